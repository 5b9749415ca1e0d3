import type { Static } from 'typebox';
import { call, fetchList, pathOf } from '../../../console/web/api/call.js';
import type { ChangedKeyReport, IssuedKey as IssuedKeyReport, ListedKey } from '../key-report.js';
import type { TeamReport } from '../team-report.js';

export type Key = Omit<Static<typeof ListedKey>, 'stored_responses'>;
/** A new key with its secret text, sent only once. */
export type IssuedKey = Static<typeof IssuedKeyReport>;
type ChangedKey = Static<typeof ChangedKeyReport>;
/** Settings of a protocol key; null: not set. */
export type KeySettings = Omit<
  Key,
  'id' | 'last4' | 'created_at' | 'last_used_at' | 'revoked_at' | 'former_secrets'
>;

export type Team = Static<typeof TeamReport>;
export type TeamSettings = Omit<Team, 'id' | 'created_at' | 'keys' | 'used'>;

/** Limits and budgets of a key or team; null: not set. */
export type Limits = Pick<
  Team,
  | 'requests_per_minute'
  | 'tokens_per_minute'
  | 'tokens_per_day'
  | 'tokens_per_month'
  | 'usd_per_day'
  | 'usd_per_month'
  | 'max_concurrent'
>;

export const fetchKeys = (signal?: AbortSignal) => fetchList<Key>('/keys', signal);
export const issueKey = (settings: Partial<KeySettings>) =>
  call<IssuedKey>('POST', '/keys', { body: settings });
export const changeKey = (id: string, patch: Partial<KeySettings> & { readonly revoked_at?: null }) =>
  call<ChangedKey>('PATCH', pathOf('/keys', id), { body: patch });
/** `grace`: time for which the former secrets continue to work, `24h`. */
export const rotateKey = (id: string, grace: string) =>
  call<IssuedKey>('POST', pathOf('/keys', id, '/rotate'), { body: { grace } });
export const revokeKey = (id: string) => call<Key>('DELETE', pathOf('/keys', id));
export const deleteKey = (id: string) =>
  call<void>('DELETE', pathOf('/keys', id), { query: { purge: true } });

export const fetchTeams = (signal?: AbortSignal) => fetchList<Team>('/teams', signal);
export const makeTeam = (settings: Partial<TeamSettings>) => call<Team>('POST', '/teams', { body: settings });
export const changeTeam = (id: string, patch: Partial<TeamSettings>) =>
  call<Team>('PATCH', pathOf('/teams', id), { body: patch });
export const deleteTeam = (id: string) => call<void>('DELETE', pathOf('/teams', id));
