import type { Key, KeySettings } from '../../api/types.js';
import { fromInputTime, toInputTime } from '../../format/times.js';

/** Texts of the key form as typed. */
export interface KeyDraft {
  readonly name: string;
  readonly note: string;
  readonly expires: string;
  readonly models: string;
  readonly slots: string;
  readonly requestsPerMinute: string;
  readonly tokensPerMinute: string;
  readonly tokensPerDay: string;
  readonly tokensPerMonth: string;
  readonly maxConcurrent: string;
}

export function draftOf(key: Key | null): KeyDraft {
  const text = (value: number | null | undefined) => (value ? String(value) : '');
  return {
    name: key?.name ?? '',
    note: key?.note ?? '',
    expires: toInputTime(key?.expires_at ?? null),
    models: key?.models?.join(', ') ?? '',
    slots: key?.slots?.join(', ') ?? '',
    requestsPerMinute: text(key?.requests_per_minute),
    tokensPerMinute: text(key?.tokens_per_minute),
    tokensPerDay: text(key?.tokens_per_day),
    tokensPerMonth: text(key?.tokens_per_month),
    maxConcurrent: text(key?.max_concurrent),
  };
}

/** All settings of the form; null for an empty field. */
export function settingsOf(draft: KeyDraft): KeySettings {
  return {
    name: draft.name.trim(),
    note: draft.note.trim() || null,
    expires_at: fromInputTime(draft.expires),
    models: listOf(draft.models),
    slots: listOf(draft.slots),
    requests_per_minute: numberOf(draft.requestsPerMinute),
    tokens_per_minute: numberOf(draft.tokensPerMinute),
    tokens_per_day: numberOf(draft.tokensPerDay),
    tokens_per_month: numberOf(draft.tokensPerMonth),
    max_concurrent: numberOf(draft.maxConcurrent),
  };
}

/** Settings of a new key, without the empty ones. */
export function givenOf(draft: KeyDraft): Partial<KeySettings> {
  const given = Object.entries(settingsOf(draft)).filter(([, value]) => value !== null);
  return Object.fromEntries(given);
}

/**
 * Settings that differ from `before`. An untouched expiry stays as it is, although the form shows it only to
 * the minute.
 */
export function changesOf(draft: KeyDraft, before: KeyDraft): Partial<KeySettings> {
  const old = new Map(Object.entries(settingsOf(before)));
  const changed = Object.entries(settingsOf(draft)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(old.get(name)),
  );
  return Object.fromEntries(changed);
}

/** Words of a text; null if there are none. */
function listOf(text: string): string[] | null {
  const words = text.split(/[\s,]+/).filter(Boolean);
  return words.length > 0 ? words : null;
}

function numberOf(text: string): number | null {
  return text.trim() ? Number(text) : null;
}
