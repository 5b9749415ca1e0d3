import type { StagePlace } from '../../../plugin/core.js';
import type { PassedBy } from '../../../engine/pipeline/run/watch.js';
import { EventTally, type EventSum } from './event-tally.js';
import type {
  EventChanges,
  ExplainedError,
  Interception,
  RequestChange,
  RequestChanges,
  SkipReason,
  StateChange,
} from '../explanation.js';
import type { Usage } from '../../../plugin/index.js';

/** Tallies of an answer before and after the changes of a stage. */
export class TallyPair {
  #before = new EventTally();
  #after = new EventTally();

  /** Fresh tallies, for another attempt. */
  readonly startBefore = (): EventTally => (this.#before = new EventTally());
  readonly startAfter = (): EventTally => (this.#after = new EventTally());

  constructor(before?: EventTally, after?: EventTally) {
    if (before) this.#before = before;
    if (after) this.#after = after;
  }

  /** Changes of the events, known once the answer has ended. */
  get changes(): EventChanges | undefined {
    return eventChanges(this.#before.sum, this.#after.sum);
  }
}

/** Run of an interceptor while it is recorded. */
export interface InterceptionRecord {
  readonly calls: { readonly request: RequestChanges; error?: ExplainedError }[];
  readonly events: TallyPair[];
  error?: ExplainedError;
}

/** Way of a request through one stage while it is recorded. */
export class StageRecord {
  readonly place: StagePlace;
  readonly conceals: boolean;
  ms = 0;
  result: 'passed' | 'answered' | 'failed' | 'skipped' = 'answered';
  reason: SkipReason | undefined;
  error: ExplainedError | undefined;
  caught: ExplainedError | undefined;
  readonly state: StateChange[] = [];
  readonly events: TallyPair[] = [];
  readonly interceptions: InterceptionRecord[] = [];
  readonly #changes: RequestChange[] = [];
  #more = 0;

  constructor(place: StagePlace, conceals = false) {
    this.place = place;
    this.conceals = conceals;
  }

  /** Record of a stage that a request has skipped. */
  static passedBy(place: StagePlace, reason: PassedBy): StageRecord {
    const record = new StageRecord(place);
    record.skip(reason);
    return record;
  }

  skip(reason: SkipReason): void {
    this.result = 'skipped';
    this.reason = reason;
  }

  change({ changes, more = 0 }: RequestChanges): void {
    this.#changes.push(...changes);
    this.#more += more;
  }

  get request(): RequestChanges {
    const changes = this.#changes;
    return this.#more > 0 ? { changes, more: this.#more } : { changes };
  }

  get interceptionReports(): readonly Interception[] {
    return this.interceptions.map(({ calls, events, error }) => ({
      calls,
      ...eventsOf(events),
      ...(error && { error }),
    }));
  }
}

/** Changes by the last of these; of an answer in several attempts the last one counts. */
export function eventsOf(pairs: readonly TallyPair[]): { readonly events?: EventChanges } {
  const events = pairs.map(({ changes }) => changes).findLast((changes) => changes !== undefined);
  return events ? { events } : {};
}

/** Differences of an answer between two places of the pipeline; undefined: none. */
function eventChanges(before: EventSum, after: EventSum): EventChanges | undefined {
  const types = pairs(before.types, after.types, 0);
  const usage = pairs(numbersOf(before.usage), numbersOf(after.usage), null);
  const textChanged = before.digest !== after.digest;
  if (!textChanged && Object.keys(types).length + Object.keys(usage).length === 0) return undefined;
  return { types, characters: [before.characters, after.characters], textChanged, usage };
}

type Numbers = Readonly<Record<string, number>>;

/** Values that differ, by name: before and after. */
function pairs<None>(
  before: Numbers,
  after: Numbers,
  none: None,
): Record<string, [number | None, number | None]> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const differing = [...names].filter((name) => before[name] !== after[name]);
  return Object.fromEntries(differing.map((name) => [name, [before[name] ?? none, after[name] ?? none]]));
}

function numbersOf(usage: Usage): Numbers {
  const entries = Object.entries(usage).flatMap(([name, value]) =>
    typeof value === 'number' ? [[name, value] as const] : [],
  );
  return Object.fromEntries(entries);
}
