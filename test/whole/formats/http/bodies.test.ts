import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ask, masterKey, slotAt, stages, startGateway, startPair, type Pair } from '../../harness.js';
import { callsTo, errorIn, inFlight, raw, readError, type RawRequest } from '../../kit.js';

const limit = 100_000;

describe('bodies', () => {
  let pair: Pair;
  before(async () => {
    pair = await startPair({ pipeline: stages({ with: { 'body-limit': { limit } } }) });
  });
  after(() => pair.close());

  const hello = JSON.stringify(ask('Hello!'));
  const withKey = { 'x-api-key': masterKey, 'content-type': 'application/json' };

  /** Posts bytes as they are. */
  function post(pieces: RawRequest['pieces'] & object, headers: object = {}, agent?: Agent) {
    const url = `${pair.url}/v1/messages`;
    return raw(url, { method: 'POST', headers: { ...withKey, ...headers }, pieces, ...(agent && { agent }) });
  }

  async function refusal(pieces: RawRequest['pieces'] & object, headers: object = {}) {
    const { status, text } = await post(pieces, headers);
    return readError(status, text);
  }

  describe('larger than the limit', () => {
    const big = JSON.stringify(ask('x'.repeat(limit)));
    const bodyTooLarge = { status: 413, type: 'request_too_large', code: 'body_too_large' };

    /** What is sent must never come as far as a slot. */
    async function expectNoCall(send: () => Promise<unknown>): Promise<void> {
      const before = pair.simulator.requests.length;
      await send();
      expect(pair.simulator.requests).to.have.length(before);
      expect(inFlight(pair)).to.deep.equal([0]);
    }

    const ways: Readonly<Record<string, () => readonly [pieces: readonly Buffer[], headers: object]>> = {
      'with a length': () => [[Buffer.from(big)], { 'content-length': Buffer.byteLength(big) }],
      'in chunks': () => [slices(big, 1000), {}],
      'in gzip, though not as gzip': () => [[gzipSync(big)], { 'content-encoding': 'gzip' }],
      'in deflate': () => [[deflateSync(big)], { 'content-encoding': 'deflate' }],
      'in br': () => [[brotliCompressSync(big)], { 'content-encoding': 'br' }],
      'a thousand times as large, in gzip': () => [
        [gzipSync(Buffer.alloc(1000 * limit, 'x'))],
        { 'content-encoding': 'gzip' },
      ],
    };
    for (const [way, make] of Object.entries(ways)) {
      it(`are 413 ${way}, before a slot is chosen`, () =>
        expectNoCall(async () => {
          const [pieces, headers] = make();
          expect(await refusal(pieces, headers)).to.include(bodyTooLarge);
        }));
    }

    it('are 413 while the rest is still to come, and end the connection', () =>
      expectNoCall(async () => {
        const sent = request(`${pair.url}/v1/messages`, { method: 'POST', headers: withKey });
        sent.on('error', () => undefined); // a reset, once the answer has come
        sent.write(big);
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        expect(response.statusCode).to.equal(413);
        expect(response.headers.connection).to.equal('close');
        response.resume();
        await once(sent, 'close');
      }));

    it('are 413 before any of it is read where the length says so', () =>
      expectNoCall(async () => {
        const headers = { ...withKey, 'content-length': String(limit + 1) };
        const sent = request(`${pair.url}/v1/messages`, { method: 'POST', headers });
        sent.on('error', () => undefined);
        sent.flushHeaders();
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        expect(response.statusCode).to.equal(413);
        sent.destroy();
      }));

    it('are told to a caller that sends all of it before it reads', () =>
      expectNoCall(async () => {
        for (let at = 0; at < 10; at += 1)
          expect(await refusal(slices('y'.repeat(20 * limit), 65_536))).to.include(bodyTooLarge);
      }));

    it('leave a kept-alive connection in a state that a caller can tell', () =>
      expectNoCall(async () => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        expect(await post(slices(big, 1000), {}, agent)).to.have.property('status', 413);
        const next = await raw(`${pair.url}/health`, { agent });
        agent.destroy();
        expect(next.status).to.equal(200);
      }));

    it('are what they are in every format and for token counts', () =>
      expectNoCall(async () => {
        for (const path of [
          '/v1/chat/completions',
          '/v1/responses',
          '/completions',
          '/messages/count_tokens',
        ]) {
          const response = await pair.post(path, { model: 'sonnet-5', filler: 'x'.repeat(limit) });
          expect(await errorIn(response)).to.include(bodyTooLarge);
        }
      }));

    it('are measured in bytes, not in characters', () =>
      expectNoCall(async () => {
        const body = JSON.stringify(ask('€'.repeat(limit / 3)));
        expect(body.length).to.be.below(limit);
        expect(await refusal([body])).to.include(bodyTooLarge);
      }));

    it('of just the limit are taken', async () => {
      const empty = JSON.stringify(ask(''));
      const body = JSON.stringify(ask('x'.repeat(limit - empty.length)));
      expect(body).to.have.length(limit);
      expect(await post([body])).to.have.property('status', 200);
    });
  });

  it('may be as large as GW_MAX_BODY says', async () => {
    const pipeline = stages({ with: { 'body-limit': { limit: '${GW_MAX_BODY:-128mb}' } } });
    const slots = [slotAt(pair.simulator.url)];
    const under = await startGateway({ pipeline, slots }, { GW_MAX_BODY: '2kb' });
    const health = (await (await under.get('/health')).json()) as { limits: { max_body_bytes: number } };
    const taken = await under.post('/v1/messages', ask('x'.repeat(1500)));
    const refused = await under.post('/v1/messages', ask('x'.repeat(2048)));
    await under.close();
    expect([health.limits.max_body_bytes, taken.status, refused.status]).to.deep.equal([2048, 200, 413]);
  });

  for (const [encoding, encode] of [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity', (text: string) => Buffer.from(text)],
  ] as const) {
    it(`may come in ${encoding}`, async () => {
      const { status, text } = await post([encode(hello)], { 'content-encoding': encoding });
      expect(status).to.equal(200);
      expect(text).to.include('You said: Hello!');
    });
  }

  it('that are not what their encoding says are 400', async () => {
    const broken = Buffer.concat([gzipSync(hello).subarray(0, 30), Buffer.from('garbage')]);
    for (const bytes of [Buffer.from(hello), broken, gzipSync(hello).subarray(0, 40)])
      expect(await refusal([bytes], { 'content-encoding': 'gzip' })).to.include({ status: 400 });
  });

  it('in an encoding that nobody knows are refused', async () => {
    const error = await refusal([hello], { 'content-encoding': 'snappy' });
    expect(error).to.include({ status: 415, code: 'unsupported_media_type' });
    expect(error.message).to.include('gzip, deflate or br');
  });

  for (const type of [
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'application/vnd.api+json',
    'nonsense',
  ]) {
    it(`with content type ${type} are 415`, async () => {
      const headers = { 'x-api-key': masterKey, ...(type && { 'content-type': type }) };
      const { status, text } = await raw(`${pair.url}/v1/messages`, {
        method: 'POST',
        headers,
        pieces: [hello],
      });
      const expected = { status: 415, type: 'invalid_request_error', code: 'unsupported_media_type' };
      expect(readError(status, text)).to.include(expected);
    });
  }

  for (const type of [
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json;charset=UTF-8',
  ])
    it(`with content type ${type} are taken`, async () => {
      expect(await post([hello], { 'content-type': type })).to.have.property('status', 200);
    });

  for (const [what, text] of [
    ['empty', ''],
    ['white space', '  \n'],
    ['half of an object', '{"model":'],
    ['not JSON at all', 'model=sonnet-5'],
    ['two values', '{} {}'],
    ['a number that JSON does not have', '{"temperature": NaN}'],
  ] as const) {
    it(`that are ${what} are 400 invalid_json`, async () => {
      const error = await refusal(text === '' ? [] : [text]);
      expect(error).to.include({ status: 400, type: 'invalid_request_error', code: 'invalid_json' });
    });
  }

  for (const text of ['[]', 'null', '"text"', '7', 'true'])
    it(`that are ${text} are 400 in every format`, async () => {
      for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/responses', '/v1/completions']) {
        const options = { method: 'POST', headers: withKey, pieces: [text] };
        const { status, text: answered } = await raw(pair.url + path, options);
        expect(readError(status, answered)).to.include({ status: 400, code: 'invalid_request' });
      }
    });

  for (const [encoding, encode] of Object.entries({ identity: (body: Buffer) => body, gzip: gzipSync }))
    it(`that are not UTF-8 are 400 (${encoding})`, async () => {
      const latin1 = Buffer.from(JSON.stringify(ask('Grüße')), 'latin1');
      const before = pair.simulator.requests.length;
      const error = await refusal([encode(latin1)], { 'content-encoding': encoding });
      expect(error).to.include({
        status: 400,
        code: 'invalid_json',
        message: 'The body is not valid UTF-8.',
      });
      expect(pair.simulator.requests).to.have.length(before);
    });

  it('may have a byte order mark', async () => {
    expect(await post([`\ufeff${hello}`])).to.have.property('status', 200);
  });

  it('may be cut anywhere, within a character too', async () => {
    const bytes = Buffer.from(JSON.stringify(ask('Grüße, 世界 🌍!')));
    const { text } = await post([...bytes].map((byte) => Buffer.from([byte])));
    expect(text).to.include('You said: Grüße, 世界 🌍!');
  });

  it('may have keys that would change an object of JavaScript', async () => {
    const body = `{"__proto__":{"model":"x"},"constructor":1,${hello.slice(1)}`;
    await post([body]);
    expect(({} as { model?: unknown }).model).to.equal(undefined);
    expect(callsTo(pair.simulator).at(-1)?.text).to.include('"__proto__"');
  });

  it('that are large go upstream as they came, but for what the stages change', async () => {
    const long = `{"role": "user", "content": "\\u00e9\\/ ${'Some text, é. '.repeat(700)}", "n": 1.0}`;
    const earlier = [long, long, long, long, long].join(', ');
    const last =
      '{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}';
    await post([`{"messages": [${earlier}, ${last}], "model": "sonnet-5", "max_tokens": 1e3}`]);
    const sent = callsTo(pair.simulator).at(-1);
    expect(sent?.text.split(long)).to.have.length(6);
    expect(sent?.text).to.include(last.replace('"ephemeral"', '"ephemeral","ttl":"1h"'));
    expect(sent?.body).to.have.property('max_tokens', 1000);
  });
});

function slices(text: string, size: number): readonly Buffer[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
}
