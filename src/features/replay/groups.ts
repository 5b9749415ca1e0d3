import type { DryOutcome } from '../dry-run/outcome.js';
import { changedFields, differenceKinds, differencesOf, type Difference } from './differences.js';

/** Equal differences of many requests. */
export interface DifferenceGroup extends Difference {
  count: number;
  /** Id of the first request. */
  readonly example: string;
  /** Fields of that request as both configs send it upstream, with texts; only on demand. */
  readonly fields?: readonly FieldTexts[];
}

export interface FieldTexts {
  readonly name: string;
  readonly old?: string;
  readonly new?: string;
}

/** Max groups; further differences are only counted. */
const maxGroups = 500;
/** Max length of a text that is printed. */
const maxText = 2000;

/** Differences of replayed requests, equal ones together. */
export class DifferenceGroups {
  readonly #groups = new Map<string, DifferenceGroup>();
  readonly #withTexts: boolean;
  #different = 0;
  #ungrouped = 0;

  constructor({ withTexts }: { readonly withTexts: boolean }) {
    this.#withTexts = withTexts;
  }

  /** Adds the outcomes of one request. */
  add(id: string, old: DryOutcome, now: DryOutcome): void {
    const differences = differencesOf(old, now);
    if (differences.length > 0) this.#different += 1;
    for (const difference of differences) {
      const key = JSON.stringify(Object.values(difference));
      const known = this.#groups.get(key);
      if (known) known.count += 1;
      else if (this.#groups.size >= maxGroups) this.#ungrouped += 1;
      else this.#groups.set(key, this.#group(difference, id, [old, now]));
    }
  }

  /** Number of requests with a difference. */
  get different(): number {
    return this.#different;
  }

  /** Number of differences beyond the groups. */
  get ungrouped(): number {
    return this.#ungrouped;
  }

  /** By kind, and the most frequent first. */
  get groups(): readonly DifferenceGroup[] {
    return [...this.#groups.values()].toSorted(
      (one, other) => rank(one) - rank(other) || other.count - one.count,
    );
  }

  #group(difference: Difference, id: string, [old, now]: readonly [DryOutcome, DryOutcome]): DifferenceGroup {
    const group = { ...difference, count: 1, example: id };
    if (!this.#withTexts || difference.kind !== 'request') return group;
    return { ...group, fields: changedFields(old, now).map((name) => fieldTexts(name, old, now)) };
  }
}

function rank({ kind }: Difference): number {
  return differenceKinds.indexOf(kind);
}

function fieldTexts(name: string, old: DryOutcome, now: DryOutcome): FieldTexts {
  const [before, after] = [textOf(old.upstream, name), textOf(now.upstream, name)];
  return { name, ...(before !== undefined && { old: before }), ...(after !== undefined && { new: after }) };
}

function textOf(call: unknown, name: string): string | undefined {
  const value = (call as Readonly<Record<string, unknown>> | undefined)?.[name];
  const text: string | undefined = JSON.stringify(value);
  return text !== undefined && text.length > maxText ? `${text.slice(0, maxText)}…` : text;
}
