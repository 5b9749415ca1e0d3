import { isDeepStrictEqual } from 'node:util';
import type { DryOutcome } from '../dry-run/outcome.js';
import { entryName } from './entry.js';

/** Aspects in which two configs may treat a request differently. */
export const differenceKinds = [
  'refusal',
  'slot',
  'model',
  'attempts',
  'request',
  'dropped',
  'tokens',
  'stages',
] as const;

export type DifferenceKind = (typeof differenceKinds)[number];

/** One difference between the effects of the old config and the new one on a request. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly old: string;
  readonly new: string;
}

/** Differences of two outcomes of one request, without its texts. */
export function differencesOf(old: DryOutcome, now: DryOutcome): readonly Difference[] {
  const isRefused = [old, now].some(({ status }) => status >= 400);
  const kinds = isRefused ? (['refusal', 'stages'] as const) : differenceKinds;
  return kinds.flatMap((kind) => {
    const [before, after] = comparisons[kind](old, now);
    return before === after ? [] : [{ kind, old: before, new: after }];
  });
}

/** Names of the fields of the last call of the model that differ. */
export function changedFields(old: DryOutcome, now: DryOutcome): readonly string[] {
  const [before, after] = [fieldsOf(old.upstream), fieldsOf(now.upstream)];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => name !== 'model' && !isDeepStrictEqual(before[name], after[name]))
    .toSorted();
}

type Comparison = (old: DryOutcome, now: DryOutcome) => readonly [old: string, now: string];

const comparisons: Readonly<Record<DifferenceKind, Comparison>> = {
  refusal: compareBy(({ status, error }) => [status, error?.code].filter(Boolean).join(' ')),
  slot: compareBy(({ slot = none }) => slot),
  model: compareBy(modelOf),
  attempts: compareBy(({ attempts }) => String(attempts)),
  request: (old, now) => ['', changedFields(old, now).join(', ')],
  dropped: (old, now) => onlyInEither(old.dropped, now.dropped),
  tokens: compareBy((outcome) => String(addedTokens(outcome))),
  stages(old, now) {
    const [before, after] = [stagesOf(old), stagesOf(now)];
    const [gone, come] = onlyInEither(before, after);
    const isMoved = gone === '' && come === '';
    return isMoved ? [before.join(' '), after.join(' ')] : [gone, come];
  },
};

const none = 'none';

function compareBy(show: (outcome: DryOutcome) => string): Comparison {
  return (old, now) => [show(old), show(now)];
}

/** Names that the other list does not have. */
function onlyInEither(old: readonly string[], now: readonly string[]): readonly [string, string] {
  return [namesNotIn(old, now), namesNotIn(now, old)];
}

function namesNotIn(list: readonly string[], other: readonly string[]): string {
  return list.filter((name) => !other.includes(name)).join(', ');
}

/** Model requested upstream; in some kinds of upstreams it is not in the body. */
function modelOf({ upstream, answeredBy, calls }: DryOutcome): string {
  const { model } = fieldsOf(upstream);
  return answeredBy ?? (typeof model === 'string' ? model : calls.at(-1)?.model) ?? none;
}

/** Stages that were passed, with a mark on one whose failure was skipped. */
function stagesOf({ stages, skipped }: DryOutcome): readonly string[] {
  return stages
    .filter((stage) => stage !== entryName)
    .map((stage) => (skipped.includes(stage) ? `${stage} (skipped)` : stage));
}

/** Input tokens that the gateway itself has added: billed, but not shown to the caller. */
function addedTokens({ usage: { billed, shown } }: DryOutcome): number {
  return inputTokens(billed) - inputTokens(shown);
}

function inputTokens({
  input,
  cacheRead,
  cacheWrite5m,
  cacheWrite1h,
}: DryOutcome['usage']['billed']): number {
  return input + cacheRead + cacheWrite5m + cacheWrite1h;
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}; // of a call, parsed JSON
}
