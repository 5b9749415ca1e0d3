import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import { estimateTokens } from '@gw2api/gateway/plugin';
import { Kit, type Listener, aCall, later, rejection } from '../../../engine/transport/upstream-kit.js';

const request = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello, how are you?' }] };

function answers(status: number, body: string, type = 'application/json'): Listener {
  return (_, response) => response.writeHead(status, { 'content-type': type }).end(body);
}

describe('countTokens', () => {
  const kit = new Kit();
  afterEach(() => kit.close());

  async function count(listener: Listener) {
    const upstream = await kit.open(await kit.serve(listener));
    return upstream.countTokens(aCall({ request: { ...request, stream: true } }));
  }

  it('is the upstream\u2019s own count, of the request without stream', async () => {
    const { promise: asked, resolve } = later<{ url: string | undefined; body: unknown }>();
    const counted = await count(async (incoming, response) => {
      resolve({ url: incoming.url, body: await json(incoming) });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":671}');
    });
    expect(counted).to.deep.equal({ inputTokens: 671, estimated: false });
    expect(await asked).to.deep.equal({ url: '/v1/messages/count_tokens', body: request });
  });

  const missing: readonly [string, Listener][] = [
    ['404 and a page', answers(404, '<html>Not Found</html>', 'text/html')],
    [
      '404 about the path',
      answers(404, '{"type":"error","error":{"type":"not_found_error","message":"Not found"}}'),
    ],
    ['405', answers(405, '')],
    ['501', answers(501, '{"error":"unsupported"}')],
    ['a page', answers(200, '<html></html>', 'text/html')],
    ['another JSON', answers(200, '{"tokens":3}')],
    ['a count of zero', answers(200, '{"input_tokens":0}')],
  ];
  for (const [what, listener] of missing) {
    it(`is an estimate where the upstream answers with ${what}`, async () => {
      const expected = { inputTokens: estimateTokens(request), estimated: true };
      expect(expected.inputTokens).to.be.greaterThan(1);
      expect(await count(listener)).to.deep.equal(expected);
    });
  }

  const errors: readonly [number, string, string][] = [
    [400, 'invalid_request_error', 'messages: Field required'],
    [401, 'authentication_error', 'invalid x-api-key'],
    [404, 'not_found_error', 'model: claude-sonet-4-5'],
    [429, 'rate_limit_error', 'Too many'],
    [529, 'overloaded_error', 'Overloaded'],
  ];
  for (const [status, type, message] of errors) {
    it(`throws what the upstream says with ${status}`, async () => {
      const body = JSON.stringify({ type: 'error', error: { type, message } });
      const error = await rejection(count(answers(status, body)));
      expect(error).to.include({ status, type, message });
    });
  }

  it('throws where the answer is cut', async () => {
    const counting = count((_, response) => {
      response.writeHead(200, { 'content-length': 99 }).write('{"input', () => response.destroy());
    });
    expect(await rejection(counting)).to.include({ code: 'upstream_interrupted' });
  });
});
