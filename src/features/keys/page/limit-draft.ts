import type { Limits } from './api.js';

/** Limits of a key or team as typed. */
export interface LimitDraft {
  readonly requestsPerMinute: string;
  readonly tokensPerMinute: string;
  readonly tokensPerDay: string;
  readonly tokensPerMonth: string;
  readonly usdPerDay: string;
  readonly usdPerMonth: string;
  readonly maxConcurrent: string;
}

export function limitDraftOf(limits: Limits | null): LimitDraft {
  const text = (value: number | null | undefined) => (value ? String(value) : '');
  return {
    requestsPerMinute: text(limits?.requests_per_minute),
    tokensPerMinute: text(limits?.tokens_per_minute),
    tokensPerDay: text(limits?.tokens_per_day),
    tokensPerMonth: text(limits?.tokens_per_month),
    usdPerDay: text(limits?.usd_per_day),
    usdPerMonth: text(limits?.usd_per_month),
    maxConcurrent: text(limits?.max_concurrent),
  };
}

/** Limits of the form; null for an empty field. */
export function limitsOf(draft: LimitDraft): Limits {
  return {
    requests_per_minute: numberOf(draft.requestsPerMinute),
    tokens_per_minute: numberOf(draft.tokensPerMinute),
    tokens_per_day: numberOf(draft.tokensPerDay),
    tokens_per_month: numberOf(draft.tokensPerMonth),
    usd_per_day: numberOf(draft.usdPerDay),
    usd_per_month: numberOf(draft.usdPerMonth),
    max_concurrent: numberOf(draft.maxConcurrent),
  };
}

/** Settings that are set. */
export function givenOf<Settings extends object>(settings: Settings): Partial<Settings> {
  const given = Object.entries(settings).filter(([, value]) => value !== null);
  return Object.fromEntries(given) as Partial<Settings>; // fields of it
}

/** Settings that differ from those before. */
export function changesOf<Settings extends object>(settings: Settings, before: Settings): Partial<Settings> {
  const old = new Map(Object.entries(before));
  const changed = Object.entries(settings).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(old.get(name)),
  );
  return Object.fromEntries(changed) as Partial<Settings>; // fields of it
}

function numberOf(text: string): number | null {
  return text.trim() ? Number(text) : null;
}
