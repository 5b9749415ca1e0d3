import type { Duplex } from 'node:stream';
import { ConfigError, type Config } from '../../config/config.js';
import type { Extension } from '../../gateway/gateway.js';
import type { RequestWatch } from '../../gateway/extension.js';
import { createLogger } from '../../gateway/telemetry/logs.js';
import type { Settled } from './outcome-of.js';
import type { DrySettings } from './settings.js';
import { SocketGuard } from './socket-guard.js';
import { Stillness } from './stillness.js';
import { DryUpstreams } from './upstreams.js';
import { ManualClock } from '../../kit/time/manual-clock.js';
import { MemoryHub } from '../../state/live/memory/hub.js';
import type { Live } from '../../plugin/core.js';
import type { WholeStore } from '../../state/store/contract/store.js';
import type { LedgerRow } from '../../state/ledger/contract.js';
import type { SlotsState } from '../../engine/slots/pool/snapshot.js';
import type { DryOutcome } from './outcome.js';

export const masterKey = 'gw2api-dry-run';

/** Seals a run's data in memory: 32 bytes in base64, which need no slow derivation. */
const secretKey = `${'A'.repeat(43)}=`;

/** Environment of one dry run. */
export interface World {
  readonly clock: ManualClock;
  readonly upstreams: DryUpstreams;
  readonly stillness: Stillness;
  readonly settled: WeakMap<Duplex, Settled>;
  /** Rows of the calls that stages have made since it was emptied. */
  readonly calls: LedgerRow[];
  readonly log: WarningLog;
  readonly guard: SocketGuard;
}

/** Opens an environment. Its guard refuses connections from then on. */
export async function openWorld({ startMs = Date.now() }: DrySettings): Promise<World> {
  const clock = new ManualClock(startMs);
  const upstreams = await DryUpstreams.load(clock);
  const parts = {
    stillness: new Stillness(),
    settled: new WeakMap<Duplex, Settled>(),
    calls: [],
    log: new WarningLog(),
  };
  return { clock, upstreams, ...parts, guard: new SocketGuard() };
}

/** Options of a gateway in a dry environment. */
export function gatewayOptions({ clock, upstreams, settled, calls, log }: World, settings: DrySettings) {
  const { startsStages = false, watch, onChoice, state } = settings;
  return {
    log: createLogger('warn', log),
    masterKey,
    secretKey,
    loadConfig: () => Promise.reject(new ConfigError([])),
    isCheck: !startsStages,
    clock,
    ...(state && { live: liveWith(state, clock.now) }),
    dry: { openClient: upstreams.openClient, watch, onChoice, withinCall: upstreams.withinCall },
    extensions: [outcomes(settled, calls)],
  };
}

/** Extension that keeps the data of each request by its incoming socket, and the rows of calls of stages. */
function outcomes(settled: World['settled'], calls: World['calls']): Extension {
  const keep: RequestWatch['settled'] = ({ exchange, record, row }) =>
    void settled.set(exchange.ctx.req.socket, { trace: exchange.state.trace, record, row });
  const callSettled: RequestWatch['callSettled'] = ({ row }) => {
    if (calls.push(row) > maxCalls) calls.shift();
  };
  return {
    name: 'dry-run',
    starts: () => true,
    open: async () => ({ api: undefined, watch: { settled: keep, callSettled } }),
  };
}

/** Max rows of calls that are kept. */
const maxCalls = 1000;

/** The config with memory in place of all external resources. */
export function withinMemory(config: Config): Config {
  const memory = { kind: 'memory' } as const;
  const { spool: _, ...ledger } = config.ledger;
  return { ...config, store: memory, live: memory, ledger };
}

/** Live state in memory with the given slots; permits in use are held by another instance. */
function liveWith({ shared, inFlight }: SlotsState, now: () => number): Live {
  const hub = new MemoryHub({ now });
  const [live, others] = [hub.connect(), hub.connect()];
  for (const [key, value, ttlMs] of shared) live.shared.set(key, value, ttlMs);
  for (const [id, count] of Object.entries(inFlight))
    for (let taken = 0; taken < count; taken += 1) void others.permits.take(id, Infinity);
  return live;
}

/** Binds the sessions. */
export async function bindSessions(
  { bindings }: SlotsState,
  store: Pick<WholeStore, 'bindings'>,
): Promise<void> {
  for (const { key, slotId, untilMs } of bindings)
    await store.bindings.put(key, { slotId, expiresAtMs: untilMs });
}

type Line = DryOutcome['log'][number];

/** Max requests whose lines are kept until they are taken. */
const maxRequests = 1000;

/** Max lines of one request. */
const maxLines = 100;

/** Destination of a log that keeps its lines by their request. */
export class WarningLog {
  readonly #byRequest = new Map<string, Line[]>();

  /** Takes a line of JSON. */
  write(text: string): void {
    const { id, level, msg } = JSON.parse(text) as { id?: string; level: string; msg: string }; // the logger's own
    if (id === undefined) return;
    const lines = this.#byRequest.get(id) ?? [];
    if (lines.length < maxLines) lines.push({ level, message: msg });
    this.#byRequest.set(id, lines);
    const oldest = this.#byRequest.keys().next();
    if (this.#byRequest.size > maxRequests && !oldest.done) this.#byRequest.delete(oldest.value);
  }

  /** Lines of a request, which are then forgotten. */
  take(id: string): readonly Line[] {
    const lines = this.#byRequest.get(id) ?? [];
    this.#byRequest.delete(id);
    return lines;
  }
}
