import { expect } from 'chai';
import { loadConfig } from '#src/config/load.js';
import { labelOf, toPostgresAddress, withoutPassword } from '#src/state/store/sql/postgres/address.js';

describe('an address of PostgreSQL', () => {
  const read = (text: string) => {
    const { hosts, ...address } = toPostgresAddress(text);
    return {
      ...address,
      hosts: hosts.map(({ host, port }) => [host, port]),
      label: labelOf(toPostgresAddress(text)),
    };
  };

  it('has hosts with their ports, a user, a password and a database', () => {
    expect(
      read('postgres://gw:a%40b:c@h1:5432,h2,[::1]:6000/db?target_session_attrs=read-write'),
    ).to.deep.include({
      hosts: [
        ['h1', 5432],
        ['h2', undefined],
        ['::1', 6000],
      ],
      label: 'h1:5432,h2,[::1]:6000',
      user: 'gw',
      password: 'a@b:c',
      database: 'db',
    });
    expect(read('postgresql://h/a%2Fb?user=u&password=50%25')).to.deep.include({
      user: 'u',
      password: '50%',
      database: 'a/b',
    });
    expect(read('postgres://u:50%@h')).to.deep.include({ password: '50%', database: '' });
  });

  it('may have hosts and ports among its parameters, sockets above all', () => {
    const socket = '/cloudsql/project:region:instance';
    for (const before of ['u:p@/db', 'u:p@localhost/db', '/db'])
      expect(read(`postgres://${before}?host=${socket}`)).to.deep.include({
        hosts: [[socket, undefined]],
        database: 'db',
      });
    expect(read(`postgres://u:p@${encodeURIComponent(socket)}/db`).hosts).to.deep.equal([
      [socket, undefined],
    ]);
    expect(read('postgres:///db?host=a,b&port=1,2').hosts).to.deep.equal([
      ['a', 1],
      ['b', 2],
    ]);
    expect(read('postgres:///db?host=a,b&port=7').hosts).to.deep.equal([
      ['a', 7],
      ['b', 7],
    ]);
  });

  it('passes on parameters of the server alone', () => {
    const query = 'options=-c search_path=own&application_name=gw&pgbouncer=true&sslmode=disable';
    expect(read(`postgres://h/db?${query}`).parameters).to.deep.equal({
      options: '-c search_path=own',
      application_name: 'gw',
    });
    expect(read('postgres://h/db?options=-c+search_path%3Down').parameters).to.deep.equal({
      options: '-c search_path=own',
    });
  });

  const refused = [
    [
      'h/db?sslmode=secret',
      'has an unknown sslmode; it may be disable, prefer, require, verify-ca, verify-full, no-verify',
    ],
    [
      'h/db?ssl=secret',
      'has an unknown sslmode; it may be disable, prefer, require, verify-ca, verify-full, no-verify',
    ],
    [
      'h/db?target_session_attrs=standby',
      'has a target_session_attrs for servers that accept no writes; it may be read-write, primary or any',
    ],
    [
      'h/db?schema=secret',
      'has the parameter "schema", which PostgreSQL does not have; use ?options=-c search_path=NAME',
    ],
    ['h1,,h2/db', 'has an empty name in its list of hosts'],
    ['h1:1,h2:secret/db', 'must name its hosts as HOST:PORT, and the folder of a socket as ?host=/FOLDER'],
    ['h1:70000/db', 'must have ports from 1 to 65535'],
    ['/db?host=a,b,c&port=1,2', 'must have one port for all of its hosts, or one for each'],
    ['u:%ff@h/db', 'must have its password percent-encoded in UTF-8 ("%" is written "%25")'],
  ] as const;
  for (const [rest, message] of refused)
    it(`is refused with its line and the cure: ${rest}`, () => {
      const lines = (store: string) => {
        const text = `pipeline: [{ use: auth }]\nslots: [{ id: a, upstream: simulator }]\n${store}\n`;
        expect(() => loadConfig({ text, file: 'gateway.yaml', env: {} }))
          .to.throw(message)
          .and.not.match(/secret/);
      };
      lines(`store: "postgres://${rest}"`);
      lines(`store: { url: "postgres://${rest}", pool: 3 }`);
    });

  it('stands alone in a config, or beside the number of its connections', () => {
    const storeOf = (store: string) =>
      loadConfig({
        text: `pipeline: [{ use: auth }]\nslots: [{ id: a, upstream: simulator }]\nstore: ${store}\n`,
        file: 'gateway.yaml',
        env: { P: 'a@b' },
      }).store;
    expect(storeOf('{ url: "postgres://u:${P}@h1,h2/db", pool: 7 }')).to.deep.equal({
      kind: 'postgres',
      url: 'postgres://u:a%40b@h1,h2/db',
      pool: 7,
    });
    expect(storeOf('{ url: memory, pool: 7 }')).to.deep.equal({ kind: 'memory' });
    expect(() => storeOf('{ url: "postgres://h/db", pool: 0 }')).to.throw('gateway.yaml:3:');
  });

  it('is told without its password', () => {
    expect(withoutPassword('postgres://u:secret@h1:1,h2/db?a=b&password=secret')).to.equal(
      'postgres://u@h1:1,h2/db?a=b',
    );
    expect(withoutPassword('postgres://u:secret@h/db?password=secret&a=b')).to.equal('postgres://u@h/db?a=b');
  });
});
