import { GatewayError } from '@gw2api/gateway/plugin';

/** Error for an answer that is no Chat Completions; another try, or another slot, may do better. */
export function malformed(what: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_interrupted', `The upstream sent ${what}.`, {
    failure: { kind: 'interrupted' },
    cause,
  });
}
