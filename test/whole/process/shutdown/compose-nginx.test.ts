import { expect } from 'chai';
import { ComposeNginx } from './compose-nginx.js';
import { freePort } from '../../free-port.js';
import { masterKey, slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { SocketClient } from '../../socket-client.js';
import { TempFolders } from '../../temp-folders.js';

const program = process.env['GW_TEST_NGINX'];

describe('the nginx of compose.yaml', function () {
  this.timeout(60_000);
  const folders = new TempFolders();
  let upstream: HeldUpstream;
  let under: GatewayUnderTest;
  let nginx: ComposeNginx;
  let [port, inside] = [0, 0];

  before(async function () {
    if (!program) return this.skip();
    upstream = await startHeldUpstream();
    const listen = { host: '127.0.0.1', port: 0, trustProxy: true };
    under = await startGateway({ listen, slots: [slotAt(upstream.url)] });
    [port, inside] = [await freePort(), await freePort()];
    const gateway = Number(new URL(under.url).port);
    const folder = await folders.make();
    nginx = await ComposeNginx.start(program, { folder, port, inside, ports: [gateway, gateway] });
  });
  after(async () => {
    await nginx?.end();
    await under?.close();
    await upstream?.close();
    await folders.remove();
  });

  const status = async (at: number, path: string) => {
    const answer = await fetch(`http://127.0.0.1:${at}${path}`, { headers: { 'x-api-key': masterKey } });
    await answer.text();
    return answer.status;
  };

  it('passes WebSockets on', async () => {
    const client = await SocketClient.open({ url: `http://127.0.0.1:${port}` });
    client.create({ input: 'Hi' });
    (await upstream.next()).finish();
    let type: unknown;
    for (let messages = 0; type !== 'response.completed' && messages < 50; messages += 1)
      ({ type } = await client.next());
    expect(type).to.equal('response.completed');
    client.socket.close();
    await client.closed;
  });

  for (const path of ['/metrics', '/admin/slots', '/panel', '/api/panel/session'])
    it(`has ${path} at the port for operators alone`, async () => {
      expect(await status(port, path)).to.equal(404);
      expect(await status(inside, path)).not.to.equal(404);
    });

  it('has the API at both', async () => {
    for (const at of [port, inside]) expect(await status(at, '/v1/models')).to.equal(200);
  });
});
