import type { Team, TeamSettings } from './api.js';
import { limitDraftOf, limitsOf, type LimitDraft } from './limit-draft.js';

/** Texts of the team form as typed. */
export interface TeamDraft extends LimitDraft {
  readonly name: string;
  readonly note: string;
}

export function draftOf(team: Team | null): TeamDraft {
  return { name: team?.name ?? '', note: team?.note ?? '', ...limitDraftOf(team) };
}

/** All settings of the form; null for an empty field. */
export function settingsOf(draft: TeamDraft): TeamSettings {
  return { name: draft.name.trim(), note: draft.note.trim() || null, ...limitsOf(draft) };
}
