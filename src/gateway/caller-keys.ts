import { createHash } from 'node:crypto';
import { WrongKeys } from '../engine/http/wrong-keys.js';
import { CheckedAdminTokens } from '../state/keys/admin-tokens.js';
import { CheckedKeys } from '../state/keys/keys.js';
import type { Caches, Live } from '../plugin/core.js';
import {
  callerOfKey,
  GatewayError,
  masterCaller,
  type Caller,
  type Clock,
  type Logger,
} from '../plugin/index.js';
import type { WholeStore } from '../state/store/contract/store.js';

interface CallerKeysOptions {
  readonly masterKey: string;
  readonly store: Pick<WholeStore, 'keys' | 'teams' | 'adminTokens'>;
  readonly live: Pick<Live, 'messages'>;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Keys and admin tokens of callers, whose caches are invalidated on all instances. */
export interface CallerKeys {
  readonly keys: CheckedKeys;
  readonly adminTokens: CheckedAdminTokens;
  /**
   * Invalidates the cached keys and admin tokens on all instances, after one or a team has changed; `ended`: hashes
   * of those that have ended.
   */
  readonly keysChanged: (...ended: readonly string[]) => void;
}

/** Opens both; `close` writes their last uses. */
export function openCallerKeys({ masterKey, store, live, log, clock }: CallerKeysOptions): CallerKeys & {
  readonly caches: Caches;
  close(): Promise<unknown>;
} {
  const keys = new CheckedKeys({ masterKey, store, log, clock });
  const adminTokens = new CheckedAdminTokens({ store: store.adminTokens, log, clock });
  const forget = (ended: readonly string[]): void => {
    keys.forget(ended);
    adminTokens.forget(ended);
  };
  live.messages.receive(keysTopic, (message) => forget(endedIn(message)));
  return {
    keys,
    adminTokens,
    caches: { ...keys.caches, ...adminTokens.caches },
    keysChanged(...ended) {
      forget(ended);
      live.messages.send(keysTopic, ended.length > 1 ? ended : (ended[0] ?? null));
    },
    close: () => Promise.all([keys.close(), adminTokens.close()]),
  };
}

/** Hashes of a message: a single one is a text, as older versions send and read it. */
function endedIn(message: unknown): readonly string[] {
  const hashes: readonly unknown[] = Array.isArray(message) ? message : [message];
  return hashes.filter((hash) => typeof hash === 'string');
}

const keysTopic = 'keys';

/**
 * Caller with a key by its id, or with the master key, for a call of a stage. Throws `forbidden` for an unknown key; in a
 * dry run, which has no keys of the store, that is one without limits.
 */
export async function callerOf(
  keys: Pick<CheckedKeys, 'find'>,
  keyId: string,
  isDry: boolean,
): Promise<Caller> {
  if (keyId === masterCaller.keyId) return masterCaller;
  const known = await keys.find(keyId);
  if (known) return callerOfKey(known);
  if (isDry) return { kind: 'key', keyId, name: keyId };
  const message = `The key ${JSON.stringify(keyId)} of billTo is unknown, expired or revoked.`;
  throw new GatewayError('forbidden', message);
}

/** Wrong keys of callers, delayed and counted on all instances. */
export function wrongKeysOf(
  { live, clock, keys, adminTokens }: WrongKeysParts,
  masterKey: string,
): WrongKeys {
  return new WrongKeys({
    meters: live.meters,
    secret: createHash('sha256').update(masterKey).digest(),
    clock,
    wasGood: (key) => keys.wasGood(key) || adminTokens.wasGood(key),
  });
}

interface WrongKeysParts extends Pick<CallerKeys, 'keys' | 'adminTokens'> {
  readonly live: Pick<Live, 'meters'>;
  readonly clock: Clock;
}
