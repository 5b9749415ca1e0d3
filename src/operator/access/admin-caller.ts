import { callerKey, GatewayError } from '../../plugin/index.js';
import type { Services } from '../../gateway/services.js';
import type { Actor } from '../../state/store/contract/actor.js';
import { masterActor } from './actor.js';
import { requireScope, type AdminScope } from './scopes.js';
import type { Keys } from '../../plugin/core.js';

type AdminKeys = Pick<Services, 'keys' | 'adminTokens'>;
type Asking = Parameters<typeof callerKey>[0];

/** Caller of `/admin/*`, with the scopes of its token; the master key has all. */
export interface AdminCaller {
  readonly actor: Actor;
  readonly scopes: readonly string[];
}

/**
 * Caller with the master key or an admin token; `area` names the called area. Throws 401, 403 and `store_unavailable`.
 */
export async function adminCaller(
  headers: Asking,
  { keys, adminTokens }: AdminKeys,
  area: string,
): Promise<AdminCaller> {
  const key = callerKey(headers);
  const token = await adminTokens.check(key);
  if (token) return { actor: { kind: 'token', name: token.name, role: 'admin' }, scopes: token.scopes };
  await requireMasterKey(key, keys, area);
  return { actor: masterActor, scopes: ['*'] };
}

/** Admits the master key, and admin tokens with a scope. Throws 401, 403 and `store_unavailable`. */
export async function requireAdminScope(
  { headers, path }: { readonly headers: Asking; readonly path: string },
  keys: AdminKeys,
  scope: AdminScope,
): Promise<void> {
  const { actor, scopes } = await adminCaller(headers, keys, path);
  requireScope({ name: actor.name, scopes }, scope);
}

/**
 * Checks that a key is the master key. Throws `invalid_api_key` for an unknown key, and `forbidden` for a protocol key;
 * `area` names the called area.
 */
export async function requireMasterKey(key: string, keys: Keys, area: string): Promise<void> {
  const known = await keys.check(key);
  if (!known) throw new GatewayError('invalid_api_key', 'The API key is unknown, expired or revoked.');
  if (known.kind === 'key')
    throw new GatewayError('forbidden', `A protocol key may call /v1/* only; ${area} needs the master key.`);
}
