import { expect } from 'chai';
import { masterKey, startGateway, type GatewayUnderTest } from '../harness.js';
import { errorIn, raw } from '../kit.js';

describe('the panel, attacked', () => {
  let under: GatewayUnderTest;
  before(async () => {
    under = await startGateway({ slots: [{ id: 'a', upstream: 'simulator' }] });
  });
  after(() => under.close());

  it('lets nobody in by another spelling of its paths', async () => {
    for (const path of [
      '/api/panel/keys',
      '/API/panel/keys/',
      '/api/panel/./keys',
      '//api/panel/keys',
      '/api//panel/keys',
      '/api/panel//keys',
      '/api/panel%2fkeys',
      '/api/%70anel/keys',
      '/api/panel/login/../keys',
      '/api/panel/login/..%2fkeys',
      '/api/panel;x/keys',
      '/api/panel/keys?x=/api/panel/login',
      '/api/panel/%zz',
      '/api/panel/keys/%zz',
      '/api/panel/keys/%c0%af',
    ]) {
      const { status, text } = await raw(under.url, { method: 'GET', path });
      expect(status, `${path}: ${text}`).to.be.oneOf([400, 401, 404]);
    }
  });

  it('lets nobody change a method', async () => {
    const headers = { 'x-http-method-override': 'GET', 'content-type': 'application/json' };
    const response = await fetch(`${under.url}/api/panel/login?_method=DELETE`, {
      method: 'POST',
      headers,
      body: '{}',
    });
    expect(await errorIn(response)).to.include({ status: 400 });
    for (const method of ['TRACE', 'PROPFIND', 'PUT'])
      expect((await raw(`${under.url}/api/panel/keys`, { method })).status, method).to.be.oneOf([401, 405]);
  });

  it('keeps no reader for a HEAD of the live requests', async () => {
    for (let nth = 0; nth < 101; nth += 1) {
      const head = await fetch(`${under.url}/api/panel/requests/live`, {
        method: 'HEAD',
        headers: { 'x-api-key': masterKey },
      });
      expect(head.status).to.equal(200);
    }
    await under.gateway.exchanges.idle();
  });

  it('refuses what is too deep, too wide or too long, and soon', async () => {
    const nested = (depth: number, open: string, close: string) =>
      `${open.repeat(depth)}1${close.repeat(depth)}`;
    const many = (value: string) => Array.from({ length: 5000 }, (_, nth) => `"k${nth}":${value}`).join();
    const long = 900_000;
    const answered: (readonly [number, string])[] = [];
    const began = performance.now();
    for (const [path, body] of [
      ['/slots', nested(10_000, '{"a":', '}')],
      ['/slots', nested(30_000, '[', ']')],
      ['/slots', `{${many('1')}}`],
      ['/slots', `{"headers":{${many('"1"')}}}`],
      ['/slots', `{"headers":{"x":"${'x'.repeat(65_536)}"}}`],
      ['/keys', `{"${'k'.repeat(long)}":1}`],
      ['/keys', `{"name":"${'k'.repeat(long)}"}`],
    ] as const) {
      const headers = { 'content-type': 'application/json', 'x-api-key': masterKey };
      const response = await fetch(`${under.url}/api/panel${path}`, { method: 'POST', headers, body });
      await response.text();
      answered.push([response.status, path]);
    }
    expect(answered.map(([status]) => status)).to.deep.equal([400, 400, 400, 400, 413, 400, 400]);
    expect(performance.now() - began).to.be.below(5000);
  });

  for (const query of ['step=99999999999999999d', 'step=9007199254740993s', 'step=367d'])
    it(`adds up no ?${query}`, async () => {
      const error = await errorIn(await under.get(`/api/panel/usage?${query}`));
      expect(error).to.include({ status: 400, code: 'invalid_request' });
      expect(error.message).to.equal('step: must be at most "366d"');
    });
});
