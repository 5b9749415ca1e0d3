import type { Runtime } from '../../gateway/runtime.js';
import type { Services } from '../../gateway/services.js';
import type { CallerLimits } from '../../engine/http/caller-watch.js';
import type { WebSocketOptions } from './upgrades.js';
import { trustedHops } from '../../engine/http/trusted-hops.js';
import { defaultMaxBodyBytes } from '../../plugin/core.js';

/** Parts of a gateway that its WebSockets need. */
interface Serving {
  readonly runtime: Runtime;
  readonly services: Services;
  readonly closing: AbortSignal;
}

/**
 * Options of a gateway's WebSockets: those of its config at the start, and its body limit in force; undefined where
 * they are off.
 */
export function webSocketOptions(gateway: Serving, callers: CallerLimits): WebSocketOptions | undefined {
  const { listen } = gateway.runtime.config;
  const { webSockets, headersTimeoutMs } = listen;
  if (!webSockets) return undefined;
  return {
    ...webSockets,
    ...callers,
    hops: trustedHops(listen),
    handshakeTimeoutMs: headersTimeoutMs,
    clock: gateway.services.clock,
    closing: gateway.closing,
    maxMessageBytes: () => gateway.runtime.pipeline.limits.max_body_bytes ?? defaultMaxBodyBytes,
  };
}
