import type { KeySecret, Team } from '../../plugin/core.js';
import type { ProtocolKey } from '../../plugin/index.js';
import type { KeyPatch, TeamPatch } from './contract/store.js';

/** Applies a merge patch to a key or a team: null removes a field. */
export function applyPatch(before: ProtocolKey, patch: KeyPatch): ProtocolKey;
export function applyPatch(before: Team, patch: TeamPatch): Team;
export function applyPatch(before: ProtocolKey | Team, patch: KeyPatch | TeamPatch): ProtocolKey | Team {
  const fields = Object.entries({ ...before, ...patch }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return Object.fromEntries(fields) as unknown as ProtocolKey | Team; // a patch cannot remove required fields
}

/** True for a key or token that is neither revoked nor expired. */
export function isGood(
  { revokedAtMs, expiresAtMs = Infinity }: Pick<ProtocolKey, 'revokedAtMs' | 'expiresAtMs'>,
  nowMs: number,
): boolean {
  return revokedAtMs === undefined && expiresAtMs > nowMs;
}

/** True for a key or a team that names a pipeline other than these. */
export function namesOther(pipelines: readonly string[]): (holder: Pick<ProtocolKey, 'pipeline'>) => boolean {
  const known = new Set(pipelines);
  return ({ pipeline }) => pipeline !== undefined && !known.has(pipeline);
}

/** A rotation of a key's secret. */
export interface Rotation {
  readonly secret: KeySecret;
  /** The latest end of all former secrets, in unix milliseconds. */
  readonly endsAtMs: number;
  readonly nowMs: number;
}

/** Replaces the secret of a key, which becomes the last of its former ones. */
export function applyRotation(before: ProtocolKey, { secret, endsAtMs, nowMs }: Rotation): ProtocolKey {
  const { hash, last4, formerSecrets = [], ...rest } = before;
  const former: ProtocolKey['formerSecrets'] = [...formerSecrets, { hash, last4, endsAtMs }]
    .map((each) => ({ ...each, endsAtMs: Math.min(each.endsAtMs, endsAtMs) }))
    .filter((each) => each.endsAtMs > nowMs)
    .slice(-maxFormerSecrets);
  return { ...rest, ...secret, ...(former.length > 0 && { formerSecrets: former }) };
}

/** Max number of names of deleted keys and teams that a store keeps; the oldest are deleted first. */
export const maxDeletedNames = 10_000;

/** Order of teams, the same in every store: the collations of databases differ. */
export function byName(a: Team, b: Team): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

/** Max number of former secrets of a key. */
export const maxFormerSecrets = 10;
