import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { dialects, formatNames, timeless } from '../dialects.js';
import { stages, startPair, type Pair } from '../../harness.js';
import { inFlight } from '../../kit.js';

/** What they must leave alone: an answer that no rule is about, and every kind of failure. */
const prompts = {
  'a text': 'Hello [EMAIL_1]!',
  'many blocks': '[[sim:interleave]]',
  'a refusal': '[[sim:refusal]]',
  'unknown types': '[[sim:unknown]]',
  'split surrogate pairs': '[[sim:emoji]]',
  'an error before the answer': '[[sim:400]]',
  'an answer that breaks': '[[sim:cut after=8]]',
};

describe('the optional stages, where their rules do not match', () => {
  let plain: Pair;
  let all: Pair;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'gw2api-'));
    const patterns = [{ name: 'never', pattern: 'never said' }];
    const optional = {
      record: [{ use: 'record', with: { folder, answers: true } }],
      'format-decode': [{ use: 'redact', with: { system: true } }],
      'slot-pick': [
        // Holds little, so that what breaks has begun for the caller, as without it.
        { use: 'guard', with: { patterns, request: true, kinds: ['text', 'thinking', 'input'], hold: 1 } },
        { use: 'response-cache' },
      ],
    };
    const [auth, limit, decode, ...rest] = stages();
    const at = rest.findIndex((entry) => (entry as { use: string }).use === 'slot-pick');
    const pipeline = [auth, limit, ...optional.record, decode, ...optional['format-decode']];
    const below = [...rest.slice(0, at), ...optional['slot-pick'], ...rest.slice(at)];
    plain = await startPair();
    all = await startPair({ pipeline: [...pipeline, ...below] }, {}, undefined, { secretKey: 'k' });
  });
  after(async () => {
    await Promise.all([plain.close(), all.close()]);
    await rm(folder, { recursive: true });
  });

  for (const format of formatNames)
    for (const [what, prompt] of Object.entries(prompts))
      it(`leave ${what} alone: ${format}`, async () => {
        const { path: route, request, fold, whole } = dialects[format];
        const answer = async (pair: Pair, stream: boolean): Promise<unknown> => {
          const response = await pair.post(route, { ...request(prompt), stream }, { 'x-gw-cache': 'true' });
          const text = await response.text();
          if (response.status !== 200) return [response.status, JSON.parse(text)];
          try {
            return JSON.parse(
              timeless(JSON.stringify(await (stream ? fold(text) : whole(JSON.parse(text))))),
            );
          } catch {
            return timeless(text).trimEnd().split('\n').at(-1)!.slice(-100); // a stream that broke: how it ends
          }
        };
        for (const stream of [true, false]) {
          const answers = await Promise.all([answer(plain, stream), answer(all, stream)]);
          expect(withoutIds(answers[1])).to.deep.equal(withoutIds(answers[0]));
        }
      });

  it('give their places back where callers leave', async () => {
    const { path: route, request } = dialects.messages;
    const leave = new AbortController();
    const sent = fetch(all.url + route, {
      method: 'POST',
      signal: leave.signal,
      headers: { 'content-type': 'application/json', 'x-api-key': 'test-master-key' },
      body: JSON.stringify({ ...request('[[sim:slow ms=50]]'), stream: true }),
    });
    const reader = (await sent).body!.getReader();
    await reader.read();
    leave.abort();
    await all.gateway.exchanges.idle();
    expect(inFlight(all)).to.deep.equal([0]);
  });
});

/** An answer without its ids and its usage: a cache has none for it. */
function withoutIds(answer: unknown): unknown {
  const isOwn = (key: string) => key === 'id' || key === 'usage' || key.endsWith('_id');
  return JSON.parse(JSON.stringify(answer, (key, value: unknown) => (isOwn(key) ? undefined : value)));
}
