import type { Duplex } from 'node:stream';
import { ConfigError, type Config } from '../../config/config.js';
import type { Extension } from '../../gateway/gateway.js';
import type { RequestWatch } from '../../gateway/extension.js';
import { createLogger } from '../../gateway/telemetry/logs.js';
import type { Settled } from './outcome-of.js';
import type { DrySettings } from './settings.js';
import { liveWith } from './slots-state.js';
import { SocketGuard } from './socket-guard.js';
import { Stillness } from './stillness.js';
import { DryUpstreams } from './upstreams.js';
import { ManualClock } from '../../kit/manual-clock.js';
import { WarningLog } from './warning-log.js';

export const masterKey = 'gw2api-dry-run';

/** Seals what a run keeps, in memory: 32 bytes in base64, which takes no time to derive. */
const secretKey = `${'A'.repeat(43)}=`;

/** World of one dry run. */
export interface World {
  readonly clock: ManualClock;
  readonly upstreams: DryUpstreams;
  readonly stillness: Stillness;
  readonly settled: WeakMap<Duplex, Settled>;
  readonly log: WarningLog;
  readonly guard: SocketGuard;
}

/** Opens a world. Its guard refuses connections from then on. */
export async function openWorld({ startMs = Date.now() }: DrySettings): Promise<World> {
  const clock = new ManualClock(startMs);
  const upstreams = await DryUpstreams.load(clock);
  const parts = {
    stillness: new Stillness(),
    settled: new WeakMap<Duplex, Settled>(),
    log: new WarningLog(),
  };
  return { clock, upstreams, ...parts, guard: new SocketGuard() };
}

/** Options of a gateway in a world. */
export function gatewayOptions({ clock, upstreams, settled, log }: World, settings: DrySettings) {
  const { startsStages = false, watch, onChoice, state } = settings;
  return {
    log: createLogger('warn', log),
    masterKey,
    secretKey,
    loadConfig: () => Promise.reject(new ConfigError([])),
    isCheck: !startsStages,
    clock,
    ...(state && { live: liveWith(state, clock.now) }),
    dry: { openClient: upstreams.openClient, watch, onChoice },
    extensions: [outcomes(settled)],
  };
}

/** Extension that keeps what is known of each request by the socket that it has come on. */
function outcomes(settled: World['settled']): Extension {
  const keep: RequestWatch['settled'] = ({ exchange, record, row }) =>
    void settled.set(exchange.ctx.req.socket, { trace: exchange.state.trace, record, row });
  return {
    name: 'dry-run',
    starts: () => true,
    open: async () => ({ api: undefined, watch: { settled: keep } }),
  };
}

/** The config with all that leads outside replaced by memory. */
export function withinMemory(config: Config): Config {
  const memory = { kind: 'memory' } as const;
  const { spool: _, ...ledger } = config.ledger;
  return { ...config, store: memory, live: memory, ledger };
}
