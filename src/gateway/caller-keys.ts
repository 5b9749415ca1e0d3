import { CheckedAdminTokens } from '../keys/admin-tokens.js';
import { CheckedKeys } from '../keys/keys.js';
import type { Caches, Clock, Live, Logger, WholeStore } from '../plugin/internal.js';

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
   * Invalidates the cached keys and admin tokens on all instances, after one or a team has changed; `revoked`: hash of
   * one that has ended.
   */
  readonly keysChanged: (revoked?: string) => void;
}

/** Opens both; `close` writes their last uses. */
export function openCallerKeys({ masterKey, store, live, log, clock }: CallerKeysOptions): CallerKeys & {
  readonly caches: Caches;
  close(): Promise<unknown>;
} {
  const keys = new CheckedKeys({ masterKey, store, log, clock });
  const adminTokens = new CheckedAdminTokens({ store: store.adminTokens, log, clock });
  const forget = (revoked?: string): void => {
    keys.forget(revoked);
    adminTokens.forget(revoked);
  };
  live.messages.receive(keysTopic, (message) => forget(typeof message === 'string' ? message : undefined));
  return {
    keys,
    adminTokens,
    caches: { ...keys.caches, ...adminTokens.caches },
    keysChanged(revoked) {
      forget(revoked);
      live.messages.send(keysTopic, revoked ?? null);
    },
    close: () => Promise.all([keys.close(), adminTokens.close()]),
  };
}

const keysTopic = 'keys';
