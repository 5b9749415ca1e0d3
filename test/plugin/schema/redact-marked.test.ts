import { expect } from 'chai';
import { redactMarked } from '#src/plugin/internal.js';
import { compileCheck } from 'gw2api/plugin/format';

describe('redactMarked', () => {
  const pin = { type: 'string', secret: true };

  it('redacts what the schema marks, wherever it stands, and nothing else', () => {
    const schema = {
      properties: {
        pin,
        list: { items: { properties: { pin } } },
        either: { anyOf: [{ properties: { pin } }, { type: 'string' }] },
        whole: { secret: true },
      },
      additionalProperties: { properties: { pin } },
    };
    const value = {
      pin: '1',
      region: 'x',
      list: [{ pin: '2', name: 'n' }],
      either: { pin: '3' },
      whole: { a: '4' },
      other: { pin: 5 },
      constructor: 'c',
    };
    expect(redactMarked(value, schema)).to.deep.equal({
      pin: '***',
      region: 'x',
      list: [{ pin: '***', name: 'n' }],
      either: { pin: '***' },
      whole: '***',
      other: { pin: '***' },
      constructor: 'c',
    });
    expect(redactMarked(value, undefined)).to.deep.equal(value);
  });

  it('has its like in messages, which do not quote a secret', () => {
    const check = compileCheck({
      properties: { pin: { ...pin, pattern: '^p-' }, one: { enum: ['a'], secret: true } },
    });
    expect(JSON.stringify(check({ pin: 'hunter2', one: 'hunter2' })))
      .to.include('pin')
      .and.not.include('hunter2');
  });
});
