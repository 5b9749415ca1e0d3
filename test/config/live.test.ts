import { expect } from 'chai';
import { liveErrors, toLive } from '#src/config/state.js';

describe('live in a config', () => {
  it('may be memory', () => {
    expect(toLive('memory')).to.deep.equal({ kind: 'memory' });
    expect(liveErrors('memory')).to.deep.equal([]);
  });

  it('may be a host alone', () => {
    expect(toLive('redis://cache.internal')).to.deep.equal({
      kind: 'redis',
      label: 'cache.internal:6379',
      prefix: 'gw2api',
      access: { host: 'cache.internal', port: 6379, db: 0 },
    });
  });

  it('may say port, user, password, database, prefix and TLS', () => {
    expect(toLive('rediss://us%40er:p%25ss@[::1]:7000/3?prefix=team.a:1')).to.deep.equal({
      kind: 'redis',
      label: '[::1]:7000',
      prefix: 'team.a:1',
      access: {
        host: '::1',
        port: 7000,
        db: 3,
        username: 'us@er',
        password: 'p%ss',
        tls: {},
      },
    });
    expect(toLive('rediss://cache.internal'))
      .to.have.nested.property('access.tls')
      .that.deep.equals({ servername: 'cache.internal' });
    expect(toLive('redis://:only@h/'))
      .to.have.property('access')
      .that.deep.include({ password: 'only', db: 0 });
  });

  for (const [text, what] of [
    ['http://secret@h', 'must be "memory", or "redis://HOST:PORT"'],
    ['redis://secret@h:x', 'must be "memory", or "redis://HOST:PORT"'],
    ['redis:///0', 'must name a host'],
    ['redis://u:secret@h/first', 'must name its database by number'],
    ['redis://u:secret@h/?tls=1', 'has the option "tls"'],
    ['redis://u:secret@h/?prefix=a{b}', 'must have a prefix of letters'],
    ['redis://u:secret%zz@h', 'must have its password percent-encoded'],
  ] as const)
    it(`is refused where it ${what}, without its secret`, () => {
      expect(() => toLive(text))
        .to.throw(what)
        .with.property('message')
        .not.include('secret');
    });
});
