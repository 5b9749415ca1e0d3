import {
  callerKey,
  GatewayError,
  keyLimits,
  type Caller,
  type Host,
  type ProtocolKey,
} from '@gw2api/gateway/plugin';

/** Caller whose key the headers hold. Throws `missing_api_key`, `invalid_api_key` and `store_unavailable`. */
export async function keyCaller(headers: Parameters<typeof callerKey>[0], { keys }: Host): Promise<Caller> {
  const found = await keys.check(callerKey(headers));
  if (!found) throw new GatewayError('invalid_api_key', 'This key is unknown, expired or revoked.');
  return found.kind === 'master' ? master : callerOf(found.key, found.team);
}

/** Caller with the master key; shared by all requests, so no stage may modify it. */
const master: Caller = Object.freeze({ kind: 'master', keyId: 'master', name: 'master' });

function callerOf(key: ProtocolKey, team: Caller['team']): Caller {
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
