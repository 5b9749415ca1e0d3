import type { ModelEvent } from '../../events/events.js';
import type { AnswerGrammar } from './grammar.js';

/** Verdict on a chunk of events. `change`: others in their place; `refuse`: the answer ends as a refusal. */
export type ReviewVerdict =
  | { readonly kind: 'allow' | 'hold' }
  | { readonly kind: 'change'; readonly events: readonly ModelEvent[] }
  | { readonly kind: 'refuse'; readonly message: string };

/** Events that are reviewed at once. */
export interface ReviewChunk {
  readonly events: readonly ModelEvent[];
  /** True if none follow. */
  readonly isLast: boolean;
  /** Throws a TypeError that says why a verdict is not possible: its events break the grammar, or too many are held. */
  check(verdict: ReviewVerdict): void;
}

interface ReviewState {
  /** Of the answer before the chunk; it stays as it is. */
  readonly grammar: AnswerGrammar;
  readonly maxHeldBytes: number;
}

/** Chunk under review, which adds the events of a verdict to the grammar once. @internal */
export class CheckedChunk implements ReviewChunk {
  readonly events: readonly ModelEvent[];
  readonly isLast: boolean;
  readonly #state: ReviewState;
  #checked: { readonly verdict: ReviewVerdict; readonly grammar: AnswerGrammar } | undefined;

  constructor({ events, isLast }: Pick<ReviewChunk, 'events' | 'isLast'>, state: ReviewState) {
    this.events = events;
    this.isLast = isLast;
    this.#state = state;
  }

  check(verdict: ReviewVerdict): void {
    this.after(verdict);
  }

  /** Grammar of the answer after a verdict. Throws a TypeError for one that is not possible. */
  after(verdict: ReviewVerdict): AnswerGrammar {
    if (this.#checked?.verdict === verdict) return this.#checked.grammar;
    const grammar = grammarAfter(verdict, this, this.#state);
    this.#checked = { verdict, grammar };
    return grammar;
  }
}

function grammarAfter(
  verdict: ReviewVerdict,
  { events, isLast }: Pick<ReviewChunk, 'events' | 'isLast'>,
  { grammar, maxHeldBytes }: ReviewState,
): AnswerGrammar {
  if (verdict.kind === 'refuse') return grammar;
  if (verdict.kind === 'hold') {
    if (isLast) throw new TypeError('verdict: the last events cannot be held');
    const bytes = events.reduce((sum, event) => sum + event.data.length, 0);
    if (bytes > maxHeldBytes)
      throw new TypeError(`verdict: more than ${maxHeldBytes} bytes of events are held`);
    return grammar;
  }
  const next = grammar.copy();
  return verdict.kind === 'change' ? afterChange(verdict.events, events, next) : after(events, next);
}

/** After the events of a model, which are passed on as they are. */
function after(events: readonly ModelEvent[], grammar: AnswerGrammar): AnswerGrammar {
  for (const event of events) grammar.add(event);
  return grammar;
}

function afterChange(
  next: readonly ModelEvent[],
  before: readonly ModelEvent[],
  grammar: AnswerGrammar,
): AnswerGrammar {
  for (const event of next) {
    const fault = grammar.add(event);
    if (fault !== undefined) throw new TypeError(`events: ${fault}`);
  }
  if (before.some(isStop) && !next.some(isStop))
    throw new TypeError('events: the last ones must end with message_stop');
  return grammar;
}

function isStop({ type }: ModelEvent): boolean {
  return type === 'message_stop';
}
