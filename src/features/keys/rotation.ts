import { GatewayError, type ProtocolKey } from '../../plugin/index.js';
import { maxFormerSecrets } from '../../state/store/key-rules.js';
import { invalid } from '../../operator/check.js';

/**
 * Throws `invalid_request` for a grace that is too long; `conflict` for a key that is revoked or has expired, and where
 * more than `maxFormerSecrets` former secrets would work beside the new one.
 */
export function refuseRotation(key: ProtocolKey, graceMs: number, nowMs: number): void {
  if (graceMs > maxGraceMs) throw invalid([`grace: must be at most ${maxGraceMs / dayMs}d`]);
  const { name, revokedAtMs, expiresAtMs = Infinity, formerSecrets = [] } = key;
  const state = revokedAtMs !== undefined ? 'is revoked' : expiresAtMs <= nowMs ? 'has expired' : undefined;
  if (state)
    throw new GatewayError(
      'conflict',
      `The key ${JSON.stringify(name)} ${state}: a new secret would not work either.`,
    );
  if (graceMs > 0 && formerSecrets.filter(({ endsAtMs }) => endsAtMs > nowMs).length >= maxFormerSecrets)
    throw new GatewayError(
      'conflict',
      `${maxFormerSecrets} former secrets of the key ${JSON.stringify(name)} still work; end them by a rotation with "grace": "0s", or wait.`,
    );
}

const dayMs = 86_400_000;
const maxGraceMs = 365 * dayMs;
