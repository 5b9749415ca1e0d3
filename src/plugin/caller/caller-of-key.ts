import type { Caller } from '../contract/caller.js';
import type { KnownKey } from '../contract/host.js';
import { keyLimits } from '../contract/protocol-key.js';

/** Caller with the master key; shared by all requests, so no stage may modify it. */
export const masterCaller: Caller = Object.freeze({ kind: 'master', keyId: 'master', name: 'master' });

/** Caller with a key, as `host.keys.check` finds it. */
export function callerOfKey({ key, team }: KnownKey): Caller {
  const { id, name, models, slots, pipeline = team?.pipeline } = key;
  const limits = keyLimits(key);
  const caller = { kind: 'key', keyId: id, name } as const;
  if (!models && !slots && !limits && !team && pipeline === undefined) return caller; // most keys are unrestricted: skip the spread for them
  return {
    ...caller,
    ...(models && { models }),
    ...(slots && { slots }),
    ...(limits && { limits }),
    ...(team && { team }),
    ...(pipeline !== undefined && { pipeline }),
  };
}
