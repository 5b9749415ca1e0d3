import {
  callerKey,
  callerOfKey,
  GatewayError,
  masterCaller,
  type Caller,
  type Host,
} from '@gw2api/gateway/plugin';

/** Caller whose key the headers hold. Throws `missing_api_key`, `invalid_api_key` and `store_unavailable`. */
export async function keyCaller(headers: Parameters<typeof callerKey>[0], { keys }: Host): Promise<Caller> {
  const found = await keys.check(callerKey(headers));
  if (!found) throw new GatewayError('invalid_api_key', 'This key is unknown, expired or revoked.');
  return found.kind === 'master' ? masterCaller : callerOfKey(found);
}
