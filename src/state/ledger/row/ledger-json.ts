import type { JsonForm } from './fields.js';
import type { LedgerAdditions, LedgerTrace } from './row-values.js';

type Tags = Readonly<Record<string, string>>;

export const tagsJson: JsonForm<Tags> = {
  write: (tags) => JSON.stringify(tags),
  read: (written) => JSON.parse(written) as Tags, // as `write` wrote it
};

/** Trace without the names of its fields, which would be most of it. */
export const traceJson: JsonForm<LedgerTrace> = { write: writeTrace, read: readTrace };

function writeTrace({ stages, calls, answeredBy }: LedgerTrace): string {
  const written = [
    stages.map(({ stage, ms, skipped }) => (skipped ? [stage, ms, 1] : [stage, ms])),
    calls.map(({ slot, model, ms, code }) =>
      model === undefined
        ? code === undefined
          ? [slot, ms]
          : [slot, ms, code]
        : [slot, ms, code ?? null, model],
    ),
  ];
  return JSON.stringify(answeredBy === undefined ? written : [...written, answeredBy]);
}

function readTrace(text: string): LedgerTrace {
  const [stages, calls, answeredBy] = JSON.parse(text) as WrittenTrace; // as `writeTrace` wrote it
  return {
    stages: stages.map(([stage, ms, skipped]) => ({ stage, ms, ...(skipped && { skipped: true }) })),
    calls: calls.map(([slot, ms, code, model]) => ({
      slot,
      ...(model !== undefined && { model }),
      ms,
      ...(typeof code === 'string' && { code }),
    })),
    ...(answeredBy !== undefined && { answeredBy }),
  };
}

/** Earlier versions wrote neither skipped stages nor the models. */
type WrittenTrace = readonly [
  stages: readonly (readonly [stage: string, ms: number, skipped?: 1])[],
  calls: readonly (readonly [slot: string, ms: number, code?: string | null, model?: string])[],
  answeredBy?: string,
];

/** Additions: by stage the counts in the order of `tokenColumns`, then the cost if it is known. */
export const additionsJson: JsonForm<LedgerAdditions> = { write: writeAdditions, read: readAdditions };

function writeAdditions(additions: LedgerAdditions): string {
  const written = Object.entries(additions).map(([stage, { tokens, cost }]) => {
    const counts = [tokens.input, tokens.cacheRead, tokens.cacheWrite5m, tokens.cacheWrite1h, tokens.output];
    return [stage, cost === undefined ? counts : [...counts, cost]];
  });
  return JSON.stringify(Object.fromEntries(written));
}

function readAdditions(text: string): LedgerAdditions {
  const written = Object.entries(JSON.parse(text) as WrittenAdditions); // as `writeAdditions` wrote it
  const additions = written.map(([stage, [input, cacheRead, cacheWrite5m, cacheWrite1h, output, cost]]) => {
    const tokens = { input, cacheRead, cacheWrite5m, cacheWrite1h, output };
    return [stage, cost === undefined ? { tokens } : { tokens, cost }];
  });
  return Object.fromEntries(additions);
}

type WrittenAdditions = Readonly<
  Record<
    string,
    readonly [input: number, read: number, write5m: number, write1h: number, output: number, cost?: number]
  >
>;
