import type { Json } from '../../../plugin/index.js';
import type { StoredState } from '../../../state/store/contract/store.js';
import { partsOf, slotKeys } from './shared-slot-state.js';
import type { Stamped } from './lww-register.js';
import type { FailureCause } from '../health/failure-cause.js';
import { cooldownTopic, keptMs, type SentCooldown } from '../health/sent-cooldown.js';
import type { RejectionMessage, SharedWindows } from '../health/account-health.js';

/** Value of the shared map with its lifetime; `ttlMs` is Infinity if it does not expire. */
export interface SharedState {
  readonly value: Json;
  readonly ttlMs: number;
}

type Stored = Pick<StoredState, 'value' | 'ttlMs'>;

/** Conversion of a topic to its stored form, and back at a restart; undefined: nothing to keep. */
interface Conversion {
  store(state: SharedState, nowMs: number): Stored | undefined;
  restore(stored: Stored, nowMs: number): SharedState | undefined;
}

/** Converts a state for the store; undefined also for topics that are not stored. */
export function toStored(key: string, state: SharedState, nowMs: number): Stored | undefined {
  return conversionOf(key)?.store(state, nowMs);
}

export function fromStored({ key, ...stored }: StoredState, nowMs: number): SharedState | undefined {
  return conversionOf(key)?.restore(stored, nowMs);
}

export function isStored(key: string): boolean {
  return conversionOf(key) !== undefined;
}

function conversionOf(key: string): Conversion | undefined {
  if (!key.startsWith(slotKeys)) return undefined;
  const topic = partsOf(key).at(-1) ?? '';
  return topic.startsWith(cooldownTopic) ? cooldown : conversions.get(topic);
}

// Values are as written by the pool of this or another instance.

const operator: Conversion = {
  store: ({ value }) => (value === null ? undefined : { value }),
  restore: ({ value }) => ({ value, ttlMs: Infinity }),
};

const rejection: Conversion = {
  store: ({ value, ttlMs }) => ((value as RejectionMessage).isRejected ? { value, ttlMs } : undefined),
  restore: ({ value, ttlMs = keptMs }) => ({ value, ttlMs }),
};

/** Stores a last error that is a refused credential: it is the cause of a rejection. */
const lastError: Conversion = {
  store: ({ value, ttlMs }) =>
    (value as Stamped<FailureCause | null>).value?.status === 401 ? { value, ttlMs } : undefined,
  restore: ({ value, ttlMs = keptMs }) => ({ value, ttlMs }),
};

/** Stores windows until the last one resets, and restores only those that have not reset yet. */
const windows: Conversion = {
  store: ({ value }, nowMs) => {
    const { value: message } = value as Stamped<SharedWindows>;
    const ends = Object.values(message).flatMap((window) => (window ? [window.resetsAtMs - nowMs] : []));
    const ttlMs = Math.max(0, ...ends);
    return ttlMs > 0 ? { value, ttlMs } : undefined;
  },
  restore: ({ value }, nowMs) => {
    const message = value as Stamped<SharedWindows>;
    const current = (name: keyof SharedWindows) => {
      const window = message.value[name];
      return window && window.resetsAtMs > nowMs ? window : null;
    };
    return { value: { ...message, value: { '5h': current('5h'), '7d': current('7d') } }, ttlMs: keptMs };
  },
};

/** Stores a cooldown for its remaining time, so that the stored state expires with it, including its check. */
const cooldown: Conversion = {
  store: ({ value, ttlMs }) => {
    const sent = value as SentCooldown;
    const leftMs = sent.leftMs - (keptMs - ttlMs);
    return sent.isOver || leftMs <= 0 ? undefined : { value, ttlMs: leftMs };
  },
  restore: ({ value, ttlMs = 0 }) => {
    const sent = value as SentCooldown;
    const { checkMs = sent.leftMs } = sent as Partial<SentCooldown>; // absent if an earlier version stored it
    return { value: { ...sent, leftMs: ttlMs, checkMs: checkMs - (sent.leftMs - ttlMs) }, ttlMs: keptMs };
  },
};

const conversions: ReadonlyMap<string, Conversion> = new Map([
  ['operator', operator],
  ['rejection', rejection],
  ['windows', windows],
  ['last-error', lastError],
]);
