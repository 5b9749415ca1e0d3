import { expect } from 'chai';
import { Kit, later } from './upstream-kit.js';

const patient = new AbortController().signal;
const credential = { 'x-api-key': 'k' };

describe('diagnose', () => {
  const kit = new Kit();
  afterEach(() => kit.close());

  it('resolves, connects and asks; any status is a good answer', async () => {
    const asked: unknown[] = [];
    const url = await kit.serve((request, response) => {
      asked.push(request.method, request.url, request.headers['x-api-key']);
      response.writeHead(404).end();
    });
    const steps = await (await kit.open(`${url}/api`)).diagnose({ signal: patient, authorize: () => ({}) });
    expect(steps.map(({ step, ok }) => [step, ok])).to.deep.equal([
      ['resolve', true],
      ['connect', true],
      ['request', true],
    ]);
    expect(steps.map(({ detail }) => detail)).to.deep.equal([
      '127.0.0.1 is 127.0.0.1',
      `connected to ${new URL(url).host}`,
      'answered with status 404',
    ]);
    expect(steps.every(({ ms }) => Number.isInteger(ms) && ms >= 0)).to.equal(true);
    expect(asked).to.deep.equal(['GET', '/api', undefined]); // without an account there is no more to ask
  });

  it('asks for the list of models in the name of the account, and says that it is accepted', async () => {
    const asked: unknown[] = [];
    const url = await kit.serve((request, response) => {
      asked.push([request.url, request.headers['x-api-key'], request.headers['anthropic-version']]);
      response.writeHead(200).end('{"data":[]}');
    });
    const steps = await (
      await kit.open(`${url}/api`)
    ).diagnose({ signal: patient, authorize: () => credential });
    expect(steps.at(-1)).to.deep.include({
      step: 'credential',
      ok: true,
      detail: 'accepted with status 200',
    });
    expect(asked).to.deep.equal([
      ['/api', undefined, '2023-06-01'],
      ['/api/v1/models?limit=1', 'k', '2023-06-01'],
    ]);
  });

  for (const status of [401, 403])
    it(`does not call a slot well whose credential is refused with ${status}`, async () => {
      const url = await kit.serve((_, response) =>
        response.writeHead(status).end('{"type":"error","error":{"type":"t","message":"invalid x-api-key"}}'),
      );
      const steps = await (await kit.open(url)).diagnose({ signal: patient, authorize: () => credential });
      expect(steps.at(-1)).to.deep.include({
        step: 'credential',
        ok: false,
        detail: `refused with status ${status}: invalid x-api-key`,
      });
    });

  it('says that the credential could not be checked where there is no list of models', async () => {
    const url = await kit.serve((_, response) => response.writeHead(404).end());
    const steps = await (await kit.open(url)).diagnose({ signal: patient, authorize: () => credential });
    expect(steps.at(-1)).to.deep.include({ step: 'credential', ok: true, skipped: true });
  });

  it('stops at a name that does not resolve', async () => {
    const steps = await (
      await kit.open('https://upstream.invalid')
    ).diagnose({ signal: patient, authorize: () => ({}) });
    expect(steps).to.have.length(1);
    expect(steps[0]).to.include({ step: 'resolve', ok: false });
    expect(steps[0]?.detail).to.contain('upstream.invalid');
  });

  it('stops at a connection that fails, and says why', async () => {
    const url = await kit.serve((_, response) => response.end());
    const steps = await (
      await kit.open(url.replace('http:', 'https:'))
    ).diagnose({ signal: patient, authorize: () => ({}) });
    expect(steps.map(({ step, ok }) => [step, ok])).to.deep.equal([
      ['resolve', true],
      ['connect', false],
    ]);
    expect(steps[1]?.detail).to.match(/SSL|TLS|EPROTO/i);
  });

  it('stops at a request that is not answered', async () => {
    const url = await kit.serveSockets((socket) => socket.once('data', () => socket.destroy()));
    const steps = await (await kit.open(url)).diagnose({ signal: patient, authorize: () => ({}) });
    expect(steps.map(({ step, ok }) => [step, ok])).to.deep.equal([
      ['resolve', true],
      ['connect', true],
      ['request', false],
    ]);
  });

  it('looks for the proxy where there is one', async () => {
    const proxy = await kit.serveSockets((socket) =>
      socket.end('HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n'),
    );
    const steps = await (
      await kit.open('https://upstream.invalid', { proxy })
    ).diagnose({ signal: patient, authorize: () => ({}) });
    expect(steps.map(({ ok }) => ok)).to.deep.equal([true, false]);
    expect(steps[0]?.detail).to.equal('the proxy 127.0.0.1 is 127.0.0.1');
    expect(steps[1]?.detail).to.contain('403');
  });

  it('ends with its signal', async () => {
    const controller = new AbortController();
    const url = await kit.serve(() => controller.abort(new Error('enough')));
    const steps = await (await kit.open(url)).diagnose({ signal: controller.signal, authorize: () => ({}) });
    expect(steps.at(-1)).to.include({ step: 'request', ok: false, detail: 'enough' });
  });

  it('leaves no connection behind', async () => {
    const { promise: closed, resolve } = later();
    const url = await kit.serve((request, response) => {
      request.socket.once('close', () => resolve());
      response.end();
    });
    await (await kit.open(url)).diagnose({ signal: patient, authorize: () => ({}) });
    await closed;
  });
});
