import { durationMs } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import { parseNetwork } from '../../kit/networks.js';
import { toAliases } from '../path-aliases.js';
import type { Config } from '../config.js';
import type { RawConfig } from '../schema.js';
import type { Environment } from '../environment.js';

/** Settings of `listen:`; PORT and HOST of the environment override the file. */
export function toListen(raw: RawConfig['listen'], { HOST, PORT }: Environment): Config['listen'] {
  return {
    host: HOST || raw.host,
    port: PORT ? Number(PORT) : raw.port,
    workers: raw.workers,
    trustProxy: raw.trustProxy === true ? 1 : raw.trustProxy,
    aliases: toAliases(raw.aliases),
    drainDelayMs: durationMs(raw.drainDelay),
    shutdownTimeoutMs: durationMs(raw.shutdownTimeout),
    headersTimeoutMs: durationMs(raw.headersTimeout),
    bodyIdleTimeoutMs: durationMs(raw.bodyIdleTimeout),
    callerIdleTimeoutMs: durationMs(raw.callerIdleTimeout),
    keepAliveTimeoutMs: durationMs(raw.keepAliveTimeout),
    stuckTimeoutMs: durationMs(raw.stuckTimeout),
    maxConnections: raw.maxConnections,
    backlog: raw.backlog,
    webSockets: raw.webSockets && toWebSockets(raw.webSockets),
  };
}

function toWebSockets({
  origins,
  maxPerKey,
  ...times
}: Exclude<RawConfig['listen']['webSockets'], false>): Config['listen']['webSockets'] {
  return {
    origins,
    maxPerKey,
    pingIntervalMs: durationMs(times.pingInterval),
    idleTimeoutMs: durationMs(times.idleTimeout),
    maxAgeMs: durationMs(times.maxAge),
  };
}

/** Rules for `listen:` that a schema cannot express. */
export function listenErrors(listen: RawConfig['listen'], store: string | undefined): readonly SchemaError[] {
  return [...networkErrors(listen), ...stuckTimeoutErrors(listen), ...workerErrors(listen, store)];
}

function stuckTimeoutErrors({ stuckTimeout }: RawConfig['listen']): readonly SchemaError[] {
  const ms = durationMs(stuckTimeout);
  if (ms === 0 || ms >= minStuckMs) return [];
  const message = `must be 0s, for no watchdog, or at least 1s, not "${stuckTimeout}"`;
  return [{ path: ['listen', 'stuckTimeout'], message }];
}

/** Shorter times are those of a garbage collection or of a busy machine. */
const minStuckMs = 1000;

function networkErrors({ trustProxy }: RawConfig['listen']): readonly SchemaError[] {
  const texts: readonly string[] = Array.isArray(trustProxy) ? trustProxy : [];
  return texts.flatMap((text, at) => {
    if (parseNetwork(text)) return [];
    const message = `must be a network such as 10.0.0.0/8 or fd00::/8, not ${JSON.stringify(text)}`;
    return [{ path: ['listen', 'trustProxy', at], message }];
  });
}

function workerErrors({ workers }: RawConfig['listen'], store: string | undefined): readonly SchemaError[] {
  const path = ['listen', 'workers'];
  if (typeof workers === 'string' && workers !== 'auto')
    return [{ path, message: `must be a whole number or "auto", not "${String(workers)}"` }];
  if (workers === 1 || store !== 'memory') return [];
  const message =
    'needs a store that several processes share: set store to "sqlite:PATH" or "postgres://USER@HOST/DATABASE"';
  return [{ path, message }];
}

/** Rules for PORT, which overrides `listen.port`. */
export function portErrors({ PORT }: Environment): readonly SchemaError[] {
  if (!PORT || (/^\d+$/.test(PORT) && Number(PORT) <= 65_535)) return [];
  const message = `the environment variable PORT, which wins over it, must be a port from 0 to 65535, not "${PORT}"`;
  return [{ path: ['listen', 'port'], message }];
}
