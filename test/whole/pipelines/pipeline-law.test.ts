import { expect } from 'chai';
import * as fc from 'fast-check';
import { ask, defaultStages, startPair, type Pair } from '../harness.js';
import { issueKey, lastCall } from '../kit.js';

type Entry = Readonly<Record<string, unknown>> & { readonly use: string; readonly name?: string };

/** A change, as the config has it, and its effect on a list that is written out. */
interface Step {
  readonly change: object;
  readonly apply: (list: readonly Entry[]) => readonly Entry[];
}

const persona = (at: number, text: string): Entry => ({
  use: 'persona-inject',
  name: `p${at}`,
  with: { text },
});

const nameOf = ({ name, use }: Entry) => name ?? use;
const placeOf = (list: readonly Entry[], name: string) => list.findIndex((entry) => nameOf(entry) === name);

/** Entries of the default pipeline whose changes keep it whole, and beside which others may be added. */
const changeable = ['persona-inject', 'max-tokens', 'cache-ttl', 'tool-choice'] as const;

const step = (at: number): fc.Arbitrary<Step> =>
  fc.oneof(
    fc
      .record({
        beside: fc.constantFrom(...changeable),
        isAbove: fc.boolean(),
        text: fc.constantFrom('A.', 'B.', 'C.'),
      })
      .map(({ beside, isAbove, text }): Step => ({
        change: { [isAbove ? 'before' : 'after']: beside, add: [persona(at, text)] },
        apply: (list) => list.toSpliced(placeOf(list, beside) + (isAbove ? 0 : 1), 0, persona(at, text)),
      })),
    fc.integer({ min: 10, max: 500 }).map((cap): Step => ({
      change: { set: 'max-tokens', with: { cap } },
      apply: (list) =>
        list.map((entry) => (nameOf(entry) === 'max-tokens' ? { ...entry, with: { cap } } : entry)),
    })),
    fc.constantFrom('5m', '1h').map((ttl): Step => ({
      change: { replace: 'cache-ttl', by: { use: 'cache-ttl', with: { ttl } } },
      apply: (list) =>
        list.map((entry) => (nameOf(entry) === 'cache-ttl' ? { use: 'cache-ttl', with: { ttl } } : entry)),
    })),
    fc.boolean().map((enabled): Step => ({
      change: { set: 'persona-inject', enabled },
      apply: (list) =>
        list.map((entry) => (nameOf(entry) === 'persona-inject' ? { ...entry, enabled } : entry)),
    })),
  );

const steps = fc.tuple(...[0, 1, 2, 3].map(step));

/** What a caller of a pipeline gets, and what goes upstream for it. */
async function effects(pair: Pair, key: string | undefined) {
  const headers: Readonly<Record<string, string>> = key === undefined ? {} : { 'x-api-key': key };
  const paths = ['/v1/messages', '/v1/chat/completions'];
  const found: unknown[] = [];
  for (const path of paths) {
    const answer = await pair.post(path, { ...ask('Hi'), max_tokens: 1000 }, headers);
    const { model: _, ...body } = (await answer.json()) as Record<string, unknown>;
    found.push([answer.status, Object.keys(body), lastCall(pair.simulator)]);
  }
  return found;
}

describe('the law of named pipelines', () => {
  it('each acts as its list written out as the default one', async () => {
    const base: readonly Entry[] = defaultStages.map((use) => ({ use }));
    await fc.assert(
      fc.asyncProperty(steps, async (changes) => {
        const written = changes.reduce<readonly Entry[]>((list, { apply }) => apply(list), base);
        const pipelines = [{ name: 'red', changes: changes.map(({ change }) => change) }];
        const named = await startPair({ pipelines });
        const plain = await startPair({ pipeline: written });
        try {
          const key = await issueKey(named, 'a', { pipeline: 'red' });
          const other = await issueKey(plain, 'a');
          expect(await effects(named, key)).to.deep.equal(await effects(plain, other));
        } finally {
          await Promise.all([named.close(), plain.close()]);
        }
      }),
      { numRuns: 25 },
    );
  });
});
