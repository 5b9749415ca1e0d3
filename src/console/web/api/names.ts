import type { Static } from 'typebox';
import type { ModelReport } from '../../../operator/status.js';
import { fetchList } from './call.js';

/** A key in a list to choose from. */
export interface NamedKey {
  readonly id: string;
  readonly name: string;
  readonly last4: string;
  readonly revoked_at: string | null;
}

/** A team in a list to choose from. */
export interface NamedTeam {
  readonly id: string;
  readonly name: string;
}

/** A slot in a list to choose from. */
export interface NamedSlot {
  readonly id: string;
}

export type Model = Static<typeof ModelReport>;

export const fetchKeyNames = (signal?: AbortSignal) => fetchList<NamedKey>('/keys', signal);
export const fetchTeamNames = (signal?: AbortSignal) => fetchList<NamedTeam>('/teams', signal);
export const fetchSlotNames = (signal?: AbortSignal) => fetchList<NamedSlot>('/slots', signal);
export const fetchModels = (signal?: AbortSignal) => fetchList<Model>('/models', signal);
