import type { CacheLoss } from '../api/ledger.js';

type Cause = CacheLoss['cause'];

interface CauseWords {
  readonly text: string;
  /** Fix by the operator. */
  readonly advice: string;
}

export const causeWords: Readonly<Record<Cause, CauseWords>> = {
  client_changed: {
    text: 'Client changed its prompt',
    advice: 'Keep what was sent; put dates and other changing texts behind the last marker.',
  },
  stage_changed: {
    text: 'Stage changed the prompt',
    advice: 'Make its text the same for a whole session; look at its when.',
  },
  slot_moved: {
    text: 'Another slot answered',
    advice: 'Look at cooldowns and free places of the slot, and at stickyTtl.',
  },
  expired: { text: 'Lifetime ran out', advice: 'Ask for a longer one: ttl: 1h of cache-ttl.' },
  model_changed: {
    text: 'Model or effort changed',
    advice: 'Nothing, unless a fallback does it: see its stick.',
  },
  provider: {
    text: 'Provider lost it',
    advice: 'Nothing had changed. If it is frequent, ask the provider.',
  },
  unknown: { text: 'Unknown', advice: 'Several causes at once, or turns that another process answered.' },
};

/** A loss in one line: Stage changed the prompt (persona-inject). */
export function lossInWords({ cause, detail }: Pick<CacheLoss, 'cause' | 'detail'>): string {
  const { text } = causeWords[cause];
  return detail === null ? text : `${text} (${detail})`;
}
