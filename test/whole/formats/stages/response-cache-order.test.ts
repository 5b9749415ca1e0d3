import { expect } from 'chai';
import type { MessagesResponse } from '@gw2api/gateway/plugin';
import { ask, stages, startPair, type Pair } from '../../harness.js';
import { callsTo, issueKey } from '../../kit.js';
import { TempFolders } from '../../temp-folders.js';

const cache = { use: 'response-cache', with: { shared: true } };
const chosenCache = {
  oneOf: [
    { ...cache, when: { format: ['messages', 'chat'] } },
    { ...cache, name: 'other' },
  ],
};
const redact = { use: 'redact' };
const chosenRedact = {
  oneOf: [
    { ...redact, when: { header: { 'x-plain': 'no' } } },
    { ...redact, name: 'any' },
  ],
};

/** Stage of an author who hides an extra of the caller, and puts it into the answer. */
const labels = `
import { extrasOf, mapText, withExtras } from '@gw2api/gateway/plugin';
export default {
  name: 'labels', requires: ['request'], provides: ['request'], intercepts: true,
  setup() {
    const labels = new WeakMap();
    return {
      async middleware(ctx, next) {
        const { request } = ctx.state;
        labels.set(ctx.req, String(extrasOf(request).seed));
        ctx.state.request = withExtras(request, {});
        await next();
      },
      async intercept(request, call, { req }) {
        const reply = await call(request);
        const find = (text, from) => {
          const start = text.indexOf('You said', from);
          return start < 0 ? undefined : { start, end: start + 8, text: labels.get(req) + ' said' };
        };
        return { ...reply, events: mapText(reply.events, { hold: 8, find }) };
      },
    };
  },
};
`;

/** The default pipeline with these entries above slot-pick. */
function pipelineWith(...entries: readonly object[]): readonly object[] {
  const all = stages();
  const at = all.findIndex((entry) => (entry as { use: string }).use === 'slot-pick');
  return [...all.slice(0, at), ...entries, ...all.slice(at)];
}

interface Asked {
  readonly result: string | null;
  readonly text: string;
}

describe("response-cache beside stages that put a caller's own into the answer", () => {
  let pair: Pair;
  const folders = new TempFolders();
  afterEach(() => pair.close());
  after(() => folders.remove());

  async function said(text: string, headers: Readonly<Record<string, string>> = {}): Promise<Asked> {
    const response = await pair.post('/v1/messages', ask(text), headers);
    expect(response.status).to.equal(200);
    const { content } = (await response.json()) as MessagesResponse;
    return { result: response.headers.get('x-gw-cache'), text: JSON.stringify(content) };
  }

  for (const [order, entries, other] of [
    ['above redact', [cache, redact], 'miss'],
    ['below redact', [redact, cache], 'hit'],
    ['above redact, in oneOf', [chosenCache, redact], 'miss'],
    ['above redact that is in oneOf', [cache, chosenRedact], 'miss'],
    ['below redact, both in oneOf', [chosenRedact, chosenCache], 'hit'],
  ] as const)
    it(`gives nobody the data of another caller: ${order}`, async () => {
      pair = await startPair({ pipeline: pipelineWith(...entries) });
      const key = { 'x-api-key': await issueKey(pair, 'other') };
      const first = await said('Write to ann@example.com!');
      const second = await said('Write to bob@example.com!', key);
      const third = await said('Write to bob@example.com!');
      expect([first, second, third].map(({ result }) => result)).to.deep.equal(['miss', other, 'hit']);
      expect(first.text).to.include('Write to ann@example.com!');
      for (const { text } of [second, third])
        expect(text).to.include('Write to bob@example.com!').and.not.include('ann@');
      expect(callsTo(pair.simulator)).to.have.length(other === 'hit' ? 1 : 2);
    });

  for (const [place, order] of [
    ['above', (stage: object) => [cache, stage]],
    ['below', (stage: object) => [stage, cache]],
  ] as const)
    it(`holds for extras too, which a stage takes out of the request: ${place} it`, async () => {
      const folder = await folders.make({ 'labels.mjs': labels });
      pair = await startPair({ pipeline: pipelineWith(...order({ use: `${folder}/labels.mjs` })) });
      const texts: string[] = [];
      for (const seed of [1, 2, 2]) {
        const body = { model: 'sonnet-5', messages: [{ role: 'user', content: 'Hello!' }], seed };
        texts.push(await (await pair.post('/v1/chat/completions', body)).text());
      }
      for (const [nth, text] of texts.entries()) expect(text).to.include(`${[1, 2, 2][nth]} said`);
      expect(callsTo(pair.simulator)).to.have.length(place === 'above' ? 2 : 1);
    });
});
