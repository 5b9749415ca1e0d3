import { expect } from 'chai';
import { OwnPostgres } from '../../../state/store/own-postgres.js';
import { postgresUrl } from '../../../state/store/stores.js';
import { ProcessWorkshop } from '../../gateway-process.js';

const env = {
  GW2API_API_KEY: 'the-master-key-of-a-test',
  GW_SECRET_KEY: 'the secret of a test, which is long',
};

(postgresUrl === undefined ? describe.skip : describe)('a gateway whose database is starting', function () {
  this.timeout(120_000);
  const workshop = new ProcessWorkshop();
  let server: OwnPostgres;
  before(async () => {
    server = await OwnPostgres.make(postgresUrl!);
    await server.startStandby(false);
  });
  afterEach(() => workshop.end());
  after(() => server.remove());

  const start = async (store: string, workers = 1) => {
    const uses = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];
    const config = {
      store,
      listen: { workers },
      pipeline: uses.map((use) => ({ use })),
      slots: [{ id: 'a', upstream: 'simulator' }],
    };
    const cwd = await workshop.folder({ 'config/gateway.yaml': JSON.stringify(config, null, 2) });
    return workshop.start({ cwd, env });
  };

  for (const workers of [1, 2])
    it(`ends on SIGTERM while it waits, with ${workers} worker(s)`, async () => {
      const gateway = await start(server.url, workers);
      const line = await gateway.line(({ msg }) => msg.startsWith('The store is not ready; trying again'));
      expect(line['problem']).to.match(
        /^PostgreSQL at 127\.0\.0\.1:\d+ cannot be used \(the database system is /,
      );
      gateway.signal('SIGTERM');
      expect(await gateway.ended).to.include({ code: 0, signal: null, stderr: '' });
    });

  it('ends with 1 and one sentence for what waiting does not help, and serves once it is there', async () => {
    const gateway = await start(server.url, 2);
    await gateway.line(({ msg }) => msg.startsWith('The store is not ready; trying again'));
    await server.stop();
    await server.promote();
    await server.start();
    await gateway.url();
    const refused = await (await start(server.url.replace('hidden', 'wrong'))).ended;
    expect([refused.code, refused.stdout]).to.deep.equal([1, '']);
    expect(refused.stderr).to.match(
      /^config\/gateway\.yaml:2:3 store: PostgreSQL at [^\n]* \(password authentication failed for user "gw"\); [^\n]*\.\n$/,
    );
  });
});
