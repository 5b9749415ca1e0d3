import { fromInputTime, toInputTime } from '../../../console/web/format/times.js';
import type { Key, KeySettings } from './api.js';
import { limitDraftOf, limitsOf, type LimitDraft } from './limit-draft.js';

/** Texts of the key form as typed. */
export interface KeyDraft extends LimitDraft {
  readonly name: string;
  readonly note: string;
  readonly expires: string;
  readonly models: string;
  readonly slots: string;
  /** Id; empty: none. */
  readonly team: string;
}

export function draftOf(key: Key | null): KeyDraft {
  return {
    name: key?.name ?? '',
    note: key?.note ?? '',
    expires: toInputTime(key?.expires_at ?? null),
    models: key?.models?.join(', ') ?? '',
    slots: key?.slots?.join(', ') ?? '',
    team: key?.team ?? '',
    ...limitDraftOf(key),
  };
}

/**
 * All settings of the form; null for an empty field. The expiry is to the minute, as the form shows it: of two
 * drafts only what differs is sent.
 */
export function settingsOf(draft: KeyDraft): KeySettings {
  return {
    name: draft.name.trim(),
    note: draft.note.trim() || null,
    expires_at: fromInputTime(draft.expires),
    models: listOf(draft.models),
    slots: listOf(draft.slots),
    team: draft.team || null,
    ...limitsOf(draft),
  };
}

/** Words of a text; null if there are none. */
function listOf(text: string): string[] | null {
  const words = text.split(/[\s,]+/).filter(Boolean);
  return words.length > 0 ? words : null;
}
