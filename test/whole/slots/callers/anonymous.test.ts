import { request } from 'node:http';
import { expect } from 'chai';
import { ask, configOf, slotAt, stages, startGateway, startPair, type Pair } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { PanelClient } from '../../console/panel-client.js';

const open = (anonymous: unknown, limits: object = {}) =>
  stages({ with: { auth: { anonymous }, 'rate-limit': limits } });

describe('callers without a key', () => {
  let pair: Pair;
  const start = async (anonymous: unknown, limits: object = {}) =>
    void (pair = await startPair({ pipeline: open(anonymous, limits) }));
  afterEach(() => pair.close());

  const post = (headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${pair.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(ask('Hi')),
    });

  it('are refused by default', async () => {
    await start(false);
    expect(await errorIn(await post())).to.include({ status: 401, code: 'missing_api_key' });
  });

  it('are one caller in the ledger, where they are let in', async () => {
    await start(true);
    expect((await post()).status).to.equal(200);
    expect((await fetch(`${pair.url}/v1/models`)).status).to.equal(200);
    await pair.gateway.exchanges.idle();
    await pair.gateway.services.ledger.flush();
    const { data } = await new PanelClient(pair.url).get('/usage?by=key');
    expect(data[0]).to.deep.include({ group: 'anonymous', name: 'anonymous', requests: 1 });
  });

  it('have the limits of one key together', async () => {
    await start(true, { requestsPerMinute: 1 });
    expect((await post()).status).to.equal(200);
    expect(await errorIn(await post())).to.include({ status: 429, code: 'rate_limited' });
    expect((await post({ 'x-api-key': 'test-master-key' })).status).to.equal(200);
  });

  for (const headers of [
    { 'x-api-key': 'wrong' },
    { 'x-api-key': '' },
    { authorization: 'Bearer wrong' },
    { authorization: 'Basic dTpw' },
  ])
    it(`are not those who send ${JSON.stringify(headers)}`, async () => {
      await start(true);
      expect((await post(headers)).status).to.equal(401);
    });

  for (const path of ['/metrics', '/admin/slots', '/admin/config', '/api/panel/keys', '/api/panel/usage'])
    it(`see nothing of ${path}`, async () => {
      await start('everyone');
      expect(await errorIn(await fetch(pair.url + path))).to.include({ status: 401 });
    });

  it('are not the pages of other sites that name this machine', async () => {
    await start(true);
    expect(await statusFor('evil.example')).to.equal(401);
    expect(await statusFor('localhost:1')).to.equal(200);
    await pair.close();
    await start('everyone');
    expect(await statusFor('evil.example')).to.equal(200);
  });

  /** Status of a list of models that is asked for by a name of the host. */
  async function statusFor(host: string): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const asked = request(`${pair.url}/v1/models`, { headers: { host } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on('error', reject).end();
    });
  }
});

describe('a gateway that others reach', () => {
  const slots = [slotAt('http://127.0.0.1:9')];
  const refused = async (listen: object, env: Readonly<Record<string, string>> = {}) => {
    const config = { ...configOf({ slots, pipeline: open(true) }), listen };
    return startGateway(config, env).then(
      () => 'none',
      (error: Error) => error.message,
    );
  };

  it('lets nobody in without a key by `true`, whoever says where it listens', async () => {
    for (const listen of [
      { host: '0.0.0.0', port: 0 },
      { host: '127.0.0.1', port: 0, trustProxy: true },
    ])
      expect(await refused(listen)).to.match(
        /pipeline\[0\] "auth" cannot be set up: anonymous: true .* everyone/,
      );
    expect(await refused({ host: '127.0.0.1', port: 0 }, { HOST: '0.0.0.0' })).to.include('anonymous: true');
  });

  it('lets them in by `everyone`', async () => {
    const under = await startGateway({
      slots,
      pipeline: open('everyone'),
      listen: { host: '0.0.0.0', port: 0 },
    });
    const { port } = new URL(under.url);
    expect((await fetch(`http://127.0.0.1:${port}/v1/models`)).status).to.equal(200);
    await under.close();
  });
});
