import { expect } from 'chai';
import { isLoopback } from '@gw2api/gateway/plugin';

describe('isLoopback', () => {
  for (const host of [
    '127.0.0.1',
    '127.9.8.7',
    '::1',
    '[::1]',
    'localhost',
    'LocalHost',
    'a.localhost',
    '::ffff:127.0.0.1',
  ])
    it(`is true of ${host}`, () => {
      expect(isLoopback(host)).to.equal(true);
    });

  for (const host of [
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '128.0.0.1',
    '',
    '127.0.0.1.example',
    'localhost.example',
    '::2',
  ])
    it(`is false of "${host}"`, () => {
      expect(isLoopback(host)).to.equal(false);
    });
});
