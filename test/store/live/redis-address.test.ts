import { expect } from 'chai';
import { toRedisAddress } from '#src/store/live/redis-address.js';

describe('the address of Redis', () => {
  it('may be a host alone', () => {
    expect(toRedisAddress('redis://cache.internal')).to.deep.equal({
      label: 'cache.internal:6379',
      prefix: 'gw2api',
      db: 0,
      access: { host: 'cache.internal', port: 6379, db: 0 },
    });
  });

  it('may say port, user, password, database, prefix and TLS', () => {
    expect(toRedisAddress('rediss://us%40er:p%25ss@[::1]:7000/3?prefix=team.a:1')).to.deep.equal({
      label: '[::1]:7000',
      prefix: 'team.a:1',
      db: 3,
      access: {
        host: '::1',
        port: 7000,
        db: 3,
        username: 'us@er',
        password: 'p%ss',
        tls: { servername: '[::1]' },
      },
    });
    expect(toRedisAddress('redis://:only@h/').access).to.deep.include({ password: 'only', db: 0 });
  });

  for (const [text, what] of [
    ['http://secret@h', 'must be redis://… or rediss://…'],
    ['redis://secret@h:x', 'must be redis://… or rediss://…'],
    ['redis:///0', 'must name a host'],
    ['redis://u:secret@h/first', 'must name its database by number'],
    ['redis://u:secret@h/?tls=1', 'has the option "tls"'],
    ['redis://u:secret@h/?prefix=a{b}', 'must have a prefix of letters'],
    ['redis://u:secret%zz@h', 'must have its password percent-encoded'],
  ] as const)
    it(`is refused where it ${what}, without its secret`, () => {
      expect(() => toRedisAddress(text))
        .to.throw(what)
        .with.property('message')
        .not.include('secret');
    });
});
