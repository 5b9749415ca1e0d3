import { expect } from 'chai';
import { liveErrors, toLive } from '#src/config/sections/live.js';

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

  const sentinel = { name: 'mymaster', nodes: ['10.0.0.1:26379', '[::1]:7000'] };

  it('may have sentinels, with a user, a password and TLS of their own', () => {
    const url = 'rediss://:own@redis/3';
    const access = { host: 'redis', port: 6379, db: 3, password: 'own', tls: { servername: 'redis' } };
    const nodes = [
      { host: '10.0.0.1', port: 26_379 },
      { host: '::1', port: 7000 },
    ];
    const directory = { kind: 'sentinel', name: 'mymaster', nodes };
    expect(toLive({ url, sentinel })).to.deep.equal({
      kind: 'redis',
      label: 'mymaster (Sentinel)',
      prefix: 'gw2api',
      access,
      directory: { ...directory, terms: { db: 0, tls: {} } },
    });
    expect(toLive({ url, sentinel: { ...sentinel, username: 'u', password: 'p', tls: false } }))
      .to.have.property('directory')
      .that.deep.equals({ ...directory, terms: { db: 0, username: 'u', password: 'p' } });
    expect(liveErrors({ url, sentinel })).to.deep.equal([]);
  });

  it('may be a cluster, or an object with an address alone', () => {
    const url = 'redis://:own@redis?prefix=a';
    const nodes = [
      { host: 'one', port: 6379 },
      { host: 'two', port: 6379 },
    ];
    expect(toLive({ url, cluster: ['one:6379', 'two:6379'] })).to.deep.equal({
      kind: 'redis',
      label: 'the cluster of one:6379',
      prefix: 'a',
      access: { host: 'redis', port: 6379, db: 0, password: 'own' },
      directory: { kind: 'cluster', nodes },
    });
    expect(toLive({ url })).to.deep.equal(toLive(url));
  });

  for (const text of [
    'one',
    'one:',
    ':1',
    'one:0',
    'one:65536',
    '::1:1',
    '[zz]:1',
    'redis://:secret@one:1',
    '',
  ])
    it(`has no node ${JSON.stringify(text)}`, () => {
      expect(liveErrors({ url: 'redis://redis', cluster: ['one:1', text] })).to.deep.equal([
        {
          path: ['live', 'cluster', 1],
          message: 'must be HOST:PORT, such as 127.0.0.1:26379 or [::1]:26379',
        },
      ]);
    });

  for (const [text, what] of [
    ['http://secret@h', 'must be "memory", or "redis://HOST:PORT"'],
    ['redis://secret@h:x', 'must be "memory", or "redis://HOST:PORT"'],
    ['redis:///0', 'must name a host'],
    ['redis://u:secret@h/first', 'must name its database by number'],
    ['redis://u:secret@h/?tls=1', 'has the unknown option "tls"'],
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
