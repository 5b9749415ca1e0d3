import { expect } from 'chai';
import { ask, stages, startPair, type Pair } from '../../harness.js';
import { callsTo, errorIn, lastCall } from '../../kit.js';

/** RE2 takes more than two seconds for ten megabytes of this. */
const slow = { name: 'slow', pattern: String.raw`(?i)(?:project|plan)\s+(?:blue|red)bird` };
const long = 'Let us project a plan. '.repeat(1_000_000);

/** Far below the time of the whole search, and above that of a piece on a busy machine. */
const maxBlockedMs = 5000;

/** The default pipeline with a stage above slot-pick. */
function pipelineWith(stage: object): readonly object[] {
  const all = stages({ without: ['cache-ttl'] });
  const at = all.findIndex((entry) => (entry as { use: string }).use === 'slot-pick');
  return [...all.slice(0, at), stage, ...all.slice(at)];
}

describe('a search of a long request', () => {
  let pair: Pair;
  afterEach(() => pair.close());

  /** Answer to a request, and the longest time for which nothing else could be done, in milliseconds. */
  async function asked(body: object): Promise<{ readonly response: Response; readonly blockedMs: number }> {
    let blockedMs = 0;
    let sinceMs = performance.now();
    const watch = setInterval(() => {
      blockedMs = Math.max(blockedMs, performance.now() - sinceMs);
      sinceMs = performance.now();
    }, 5);
    try {
      return { response: await pair.post('/v1/messages', body), blockedMs };
    } finally {
      clearInterval(watch);
    }
  }

  for (const [name, options] of [
    ['guard', { request: true }],
    ['redact', {}],
  ] as const)
    it(`is ended by ${name} with 400, and lets others have their turns`, async () => {
      pair = await startPair({
        pipeline: pipelineWith({ use: name, with: { ...options, patterns: [slow] } }),
      });
      const startedMs = performance.now();
      const { response, blockedMs } = await asked(ask(long));
      const error = await errorIn(response);
      expect(error).to.include({ status: 400, code: 'invalid_request' });
      expect(error.message).to.include('for the pattern "slow" of this gateway takes too long');
      expect(callsTo(pair.simulator)).to.have.length(0);
      expect(blockedMs).to.be.below(maxBlockedMs);
      expect(performance.now() - startedMs).to.be.below(30_000);
    });

  it('is ended by model-router with its default', async () => {
    const routes = [{ to: 'haiku-5', pattern: slow.pattern }];
    pair = await startPair({ pipeline: pipelineWith({ use: 'model-router', with: { routes } }) });
    const { response, blockedMs } = await asked(ask(long));
    expect(response.status).to.equal(200);
    await response.text();
    expect(lastCall(pair.simulator)['model']).to.equal('sonnet-5');
    expect(blockedMs).to.be.below(maxBlockedMs);
    await (await pair.post('/v1/messages', ask(`${long.slice(0, 100_000)} The plan redbird.`))).text();
    expect(lastCall(pair.simulator)['model']).to.equal('haiku-5');
  });

  it('passes over the data of images and files, and over no text that looks like it', async () => {
    const patterns = [{ name: 'token', pattern: '[A-Za-z0-9+/]{900}' }];
    pair = await startPair({ pipeline: pipelineWith({ use: 'guard', with: { request: true, patterns } }) });
    const data = 'iVBORw0KGgo'.repeat(200_000);
    const source = (media_type: string) => ({ type: 'base64', media_type, data });
    const files = [
      { type: 'image', source: source('image/png') },
      { type: 'document', source: source('application/pdf') },
      { type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: source('image/png') }] },
    ];
    const call = { type: 'tool_use', id: 't', name: 'n', input: {} };
    const stopOf = async (text: string) => {
      const messages = [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [...files.toReversed(), { type: 'text', text }] },
      ];
      const response = await pair.post('/v1/messages', ask('', { messages }));
      expect(response.status).to.equal(200);
      return ((await response.json()) as { stop_reason: string }).stop_reason;
    };
    expect(await stopOf('Look!')).to.equal('end_turn');
    expect(await stopOf(data.slice(0, 1000))).to.equal('refusal');
  });
});
