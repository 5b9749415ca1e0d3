import { once } from 'node:events';
import { request as sendRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { runStage, serveStage, type StageOptions, type StageRequest } from '@gw2api/gateway/testing';
import bodyLimit from '#plugins/body-limit.js';

describe('body-limit', () => {
  it('gives the parsed body', async () => {
    const { state, nextCalled } = await run({ body: { a: [1, 'ä'] } });
    expect(state.body).to.deep.equal({ a: [1, 'ä'] });
    expect(nextCalled).to.equal(true);
  });

  it('keeps keys that other readers of JSON refuse', async () => {
    const { state } = await run({ body: '{"__proto__":{"a":1},"constructor":2}' });
    expect(JSON.stringify(state.body)).to.equal('{"__proto__":{"a":1},"constructor":2}');
  });

  it('takes a charset beside the type, and the type in any case', async () => {
    for (const type of [
      'application/json; charset=utf-8',
      'Application/JSON;charset=latin1',
      'application/json;',
    ]) {
      const { state } = await run({ body: '{"a":"ä"}', headers: { 'content-type': type } });
      expect(state.body).to.deep.equal({ a: 'ä' });
    }
  });

  it('answers 415 to any other type, before it looks at the body', async () => {
    for (const type of ['text/plain', 'application/vnd.api+json', 'application/jsonp', ''])
      await expectError({ body: '{', headers: { 'content-type': type } }, 415, 'unsupported_media_type');
    await expectError({ headers: {} }, 415, 'unsupported_media_type');
  });

  it('decodes gzip, deflate and br', async () => {
    const text = '{"a":1}';
    const bodies = { gzip: gzipSync(text), deflate: deflateSync(text), br: brotliCompressSync(text) };
    for (const [encoding, body] of Object.entries(bodies)) {
      const { state } = await run({ body, headers: { ...json, 'content-encoding': encoding } });
      expect(state.body).to.deep.equal({ a: 1 });
    }
  });

  it('answers 400 to a body that is not what its encoding says, or cut short in it', async () => {
    const bodies = { gzip: gzipSync('{"a":1}').subarray(0, 15), deflate: 'no', br: 'no' };
    for (const [encoding, body] of Object.entries(bodies))
      await expectError({ body, headers: { ...json, 'content-encoding': encoding } }, 400, 'invalid_json');
  });

  it('answers 400 to more values than maxValues, in any encoding', async () => {
    const body = `[${'{},'.repeat(99)}{}]`;
    const allowed = await run({ body, options: { maxValues: 101 } });
    expect(allowed.state.body).to.have.length(100);
    const zipped = { body: gzipSync(body), headers: { ...json, 'content-encoding': 'gzip' } };
    for (const sent of [{ body }, zipped]) {
      const { error } = await run({ ...sent, options: { maxValues: 100 } });
      expect(error).to.include({ status: 400, code: 'invalid_request' });
      expect((error as Error).message).to.include('more than 100 values');
    }
  });

  it('answers 400 to forty megabytes of tiny values, and does not parse them', async () => {
    const body = Buffer.from(`[${'{},'.repeat(13_333_333)}{}]`);
    await expectError({ body }, 400, 'invalid_request');
  });

  it('answers 415 to an encoding that it does not know', async () => {
    const headers = { ...json, 'content-encoding': 'zstd' };
    await expectError({ body: '{}', headers }, 415, 'unsupported_media_type');
  });

  it('answers 400 to an empty body', async () => {
    for (const body of ['', ' \n']) await expectError({ body }, 400, 'invalid_json');
    await expectError({}, 400, 'invalid_json');
    await expectError(
      { headers: { ...json, 'transfer-encoding': 'chunked' }, body: '' },
      400,
      'invalid_json',
    );
  });

  it('says where a body stops being JSON', async () => {
    const { error } = await expectError({ body: '{\n  "a": x\n}' }, 400, 'invalid_json');
    expect(error.message).to.equal('The body is not valid JSON: unexpected "x" at line 2, column 8.');
  });

  it('takes a body of exactly the limit and answers 413 to one byte more', async () => {
    const options = { limit: 7 };
    expect((await run({ options, body: '{"a":1}' })).nextCalled).to.equal(true);
    await expectError({ options, body: '{"a":12}' }, 413, 'body_too_large');
  });

  it('counts decoded bytes', async () => {
    const body = gzipSync(JSON.stringify('a'.repeat(100_000)));
    const headers = { ...json, 'content-encoding': 'gzip' };
    await expectError({ options: { limit: '50kb' }, body, headers }, 413, 'body_too_large');
  });

  it('refuses a limit that is none, or longer than a text can be', async () => {
    for (const limit of ['many', 0, '2gb']) {
      const problem: unknown = await run({ options: { limit }, body: {} }).catch((error: unknown) => error);
      expect(problem).to.be.instanceOf(Error);
    }
  });

  it('answers 413 to a chunked body that never ends, and closes its connection', async () => {
    const server = await serveStage(bodyLimit, { options: { limit: 10 } });
    const sent = upload(server.origin);
    sent.write('"'.padEnd(100));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect(answer.statusCode).to.equal(413);
    expect(answer.headers.connection).to.equal('close');
    answer.resume();
    await once(sent, 'close');
    await server.close();
  });

  it('lets go of a caller that leaves in the middle, compressed or not', async () => {
    for (const encoding of ['identity', 'gzip']) {
      const server = await serveStage(bodyLimit);
      const sent = upload(server.origin, { 'content-encoding': encoding });
      sent.on('error', () => undefined);
      sent.write(encoding === 'gzip' ? gzipSync('{"a":1}').subarray(0, 12) : '{"a"');
      await arrived(sent);
      sent.destroy();
      const { nextCalled, error, outcome } = await server.served;
      expect(nextCalled).to.equal(false);
      expect(outcome).to.equal('abandoned');
      expect(error).to.include({ code: 'invalid_request', status: 400 });
      await server.close();
    }
  });
});

const json = { 'content-type': 'application/json' };

function run(request: StageOptions & StageRequest) {
  return runStage(bodyLimit, { headers: json, ...request });
}

async function expectError(request: StageOptions & StageRequest, status: number, code: string) {
  const answer = await run(request);
  expect(answer.body).to.have.nested.property('error.code', code);
  expect(answer.status).to.equal(status);
  expect(answer.nextCalled).to.equal(false);
  return answer.body as { error: { message: string } };
}

function upload(origin: string, headers: Record<string, string> = {}): ClientRequest {
  const options = { method: 'POST', headers: { ...json, ...headers, 'transfer-encoding': 'chunked' } };
  return sendRequest(`${origin}/v1/messages`, options);
}

/** What was written has left the client once its socket has nothing more to write. */
async function arrived(sent: ClientRequest): Promise<void> {
  if (!sent.socket) await once(sent, 'socket');
  const socket = sent.socket!;
  if (socket.connecting) await once(socket, 'connect');
  await new Promise<void>((resolve) => sent.write(' ', () => resolve()));
}
