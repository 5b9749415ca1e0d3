import { expect } from 'chai';
import { slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { scripted, type ScriptedUpstream } from '../../scripted-upstream.js';

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

const sse = 'text/event-stream';
const json = 'application/json';

const reasons: readonly (readonly [string, Answer])[] = [
  ['a list in message.detail', { status: 422, type: json, body: '{"object":"error","message":{"detail":[{"loc":["body","n"],"msg":"The words."}]}}' }],
  ['an object in detail', { status: 400, type: json, body: '{"detail":{"message":"The words."}}' }],
  ['a list of errors', { status: 400, type: json, body: '{"errors":[{"message":"The words."}],"success":false}' }],
  ['an error object in a 200', { status: 200, type: json, body: '{"object":"error","message":"The words.","code":400}' }],
  ['JSON labelled as events', { status: 200, type: sse, body: '{\n "error": {"message": "The words.", "code": 400}\n}' }],
  ['a plain text after event: error', { status: 200, type: sse, body: 'event: error\ndata: The words.\n\n' }],
  ['an error event of a foreign shape', { status: 200, type: sse, body: 'event: error\ndata: {"detail":"The words."}\n\n' }],
]; // prettier-ignore

const dialects = [
  ['/v1/messages', { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 }],
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
  ['/v1/responses', { input: 'Hi' }],
] as const;

describe('the reason of a failure', () => {
  let upstream: ScriptedUpstream;
  let answer: Answer;
  let calls = 0;
  let under: GatewayUnderTest | undefined;

  before(async () => {
    upstream = await scripted((_, response) => {
      calls += 1;
      response.writeHead(answer.status, { 'content-type': answer.type, ...answer.headers }).end(answer.body);
    });
  });
  beforeEach(() => void (calls = 0));
  afterEach(async () => {
    await under?.close();
    under = undefined;
  });
  after(() => upstream.close());

  const startWith = async (slot: object = {}) => {
    under = await startGateway({ slots: [slotAt(upstream.url, slot)] });
    return under;
  };

  for (const kind of ['messages', 'chat', 'responses'])
    for (const [what, given] of reasons) {
      it(`is the words of a ${kind} upstream: ${what}`, async () => {
        const gateway = await startWith({ upstream: kind });
        answer = given;
        for (const [path, body] of dialects) {
          const response = await gateway.post(path, { model: 'sonnet-5', ...body });
          expect(response.status).to.be.within(400, 599);
          const { error } = (await response.json()) as { error: { message: string } };
          expect(error.message).to.match(/The words\.$/);
          gateway.gateway.services.slots.resume('a');
        }
      });
    }

  for (const [kind, body] of [
    ['chat', '[{"error":{"code":429,"message":"Slow.","details":[{"retryDelay":"34.4s"}]}}]'],
    [
      'messages',
      '{"error":{"message":"Slow.","metadata":{"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":"35"}}}}',
    ],
  ] as const)
    // prettier-ignore
    it(`has the wait that the body of a ${kind} upstream names, for its slot and its caller`, async () => {
      const gateway = await startWith({ upstream: kind });
      answer = { status: 429, type: json, body };
      const response = await gateway.post('/v1/messages', { model: 'sonnet-5', ...dialects[0][1] });
      expect([response.status, response.headers.get('retry-after')]).to.deep.equal([429, '35']);
      const [slot] = gateway.gateway.services.slots.list();
      expect(JSON.stringify(slot)).to.include('rate_limited').and.include('retry-after: 35');
    });

  it('cools a slot after five server errors in a row, as unreachable, until one call succeeds', async () => {
    const gateway = await startWith();
    answer = {
      status: 500,
      type: json,
      body: '{"type":"error","error":{"type":"api_error","message":"Down."}}',
    };
    const states: (string | undefined)[] = [];
    const made = (): number => calls;
    while (made() < 5) {
      const before = gateway.gateway.services.slots.list()[0]?.state;
      const response = await gateway.post('/v1/messages', { model: 'sonnet-5', ...dialects[0][1] });
      expect(response.status).to.equal(500);
      states.push(before);
    }
    expect(new Set(states)).to.deep.equal(new Set(['ready']));
    const [slot] = gateway.gateway.services.slots.list();
    expect(slot).to.include({ state: 'cooling', reason: 'unreachable' });
  });
});
