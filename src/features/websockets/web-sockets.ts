import type { Opened } from '../../gateway/extension.js';
import type { Gateway } from '../../gateway/gateway.js';
import { trustedHops } from '../../engine/http/trusted-hops.js';
import { defaultMaxBodyBytes } from '../../plugin/core.js';
import { Upgrades, type WebSocketOptions } from './upgrades.js';

/** Makes the server of a gateway accept WebSockets. */
export function openWebSockets(gateway: Gateway): Opened<void> {
  return {
    api: undefined,
    watch: {
      listening(listener) {
        const options = webSocketOptions(gateway);
        if (options) listener.takeUpgrades((parts) => new Upgrades(parts, options));
      },
    },
  };
}

/** Options by the config at the start, and its body limit in force; undefined if WebSockets are off. */
function webSocketOptions(gateway: Gateway): WebSocketOptions | undefined {
  const { listen } = gateway.runtime.config;
  const { webSockets, headersTimeoutMs } = listen;
  if (!webSockets) return undefined;
  return {
    ...webSockets,
    ...gateway.listeners.callerLimits,
    hops: trustedHops(listen),
    handshakeTimeoutMs: headersTimeoutMs,
    clock: gateway.services.clock,
    closing: gateway.closing,
    maxMessageBytes: () => gateway.runtime.pipeline.largestBody ?? defaultMaxBodyBytes,
  };
}
