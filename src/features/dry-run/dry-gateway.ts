import type { Duplex } from 'node:stream';
import type { Config } from '../../config/config.js';
import type { Gateway, OpenGateway } from '../../gateway/gateway.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { send, type Received } from '../../engine/http/connection/inner-caller.js';
import { DryKeys } from './keys.js';
import { MemorySocket } from '../../engine/http/connection/memory-socket.js';
import type { DryOutcome, DryRequest } from './outcome.js';
import { outcomeOf, type Settled, type Surroundings } from './outcome-of.js';
import { DryRemotes } from './remotes.js';
import { secretsOf } from './secret-texts.js';
import type { SocketGuard } from './socket-guard.js';
import type { DrySettings } from './settings.js';
import {
  bindSessions,
  gatewayOptions,
  openWorld,
  withinMemory,
  type World,
  type WarningLog,
} from './world.js';
import type { Stillness } from './stillness.js';
import type { DryUpstreams } from './upstreams.js';
import type { ManualClock } from '../../kit/time/manual-clock.js';

/** Max time that a request may wait on the dry clock. */
const maxWaitMs = 24 * 3_600_000;

/** Max timers that fire during a request, or in the time before it: those of two months. */
const maxTimers = 2_000_000;

/**
 * The gateway of a config, built by the same code as the real one, over its own environment: simulators in place of the
 * upstreams, sockets within this process, store and live state in memory, and a clock that moves when everything waits.
 * Opens no port, connects to nothing and touches no file.
 */
export class DryGateway {
  readonly #gateway: Gateway;
  readonly #accept: (socket: MemorySocket) => void;
  readonly #clock: ManualClock;
  readonly #upstreams: DryUpstreams;
  readonly #stillness: Stillness;
  readonly #settled: WeakMap<Duplex, Settled>;
  readonly #calls: World['calls'];
  readonly #log: WarningLog;
  readonly #guard: SocketGuard;
  readonly #keys: DryKeys;
  readonly #slotIds: readonly string[];
  #isClosed = false;

  private constructor(gateway: Gateway, world: World, { keys = {}, teams = {} }: DrySettings) {
    this.#gateway = gateway;
    this.#accept = gateway.listeners.openWithin();
    this.#clock = world.clock;
    this.#upstreams = world.upstreams;
    this.#stillness = world.stillness;
    this.#settled = world.settled;
    this.#calls = world.calls;
    this.#log = world.log;
    this.#guard = world.guard;
    this.#keys = new DryKeys(
      { keys, teams },
      {
        store: gateway.services.store,
        meters: gateway.services.live.meters,
        clock: world.clock,
      },
    );
    this.#slotIds = gateway.runtime.config.slots.map(({ id }) => id);
  }

  /** Builds the pipeline of a config. Throws ConfigError, and an Error for an unknown slot or scenario. */
  static async open(
    config: Config,
    openGateway: OpenGateway,
    settings: DrySettings = {},
  ): Promise<DryGateway> {
    const world = await openWorld(settings);
    world.upstreams.remotes = new DryRemotes(config, settings.remotes);
    const opening = openGateway(withinMemory(config), gatewayOptions(world, settings));
    opening.catch(() => world.guard.close());
    const dry = new DryGateway(await opening, world, settings);
    try {
      refuseConnections(world.guard.take());
      if (settings.state) await bindSessions(settings.state, dry.#gateway.services.store);
      for (const [slot, scenarios] of Object.entries(settings.slots ?? {})) dry.answerWith(slot, scenarios);
    } catch (error) {
      await dry.close();
      throw error;
    }
    return dry;
  }

  /** Texts of the config that reports must not contain. */
  get secrets(): readonly string[] {
    return secretsOf(this.#gateway);
  }

  /** Time on the dry clock, unix milliseconds. */
  get nowMs(): number {
    return this.#clock.now();
  }

  /** Changes the answers in place of a slot's account. Throws an Error for an unknown slot or scenario. */
  answerWith(slot: string, scenarios: readonly string[]): void {
    requireKnown('slot', slot, this.#slotIds);
    for (const scenario of scenarios)
      requireKnown('scenario', /^[\w.-]*/.exec(scenario)?.[0] ?? '', this.#upstreams.scenarioNames);
    this.#upstreams.answerWith(slot, scenarios);
  }

  /**
   * Sends requests concurrently, and moves the clock on while everything waits, until all have ended. Throws an Error
   * for one that does not end.
   */
  async send(requests: readonly DryRequest[]): Promise<readonly DryOutcome[]> {
    this.#guard.lead();
    this.#upstreams.outgoing.length = 0;
    this.#upstreams.remotes?.take();
    this.#calls.length = 0;
    const heads = await Promise.all(requests.map((request) => this.#keys.headersOf(request)));
    const answers = requests.map((request, at) => this.#ask(request, heads[at] ?? {}));
    const answered = await this.#until(Promise.all(answers));
    const { exchanges, services } = this.#gateway;
    await this.#until(exchanges.idle().then(() => services.openCalls.idle()));
    const outgoing = this.#upstreams.outgoing.splice(0);
    const remotes = this.#upstreams.remotes?.take() ?? {};
    const calls = this.#calls.splice(0);
    const refused = this.#guard.take();
    const shared = { outgoing, remotes, calls, refused, isAlone: requests.length === 1 };
    return answered.map(({ received, far }) => this.#outcome(received, this.#settled.get(far), shared));
  }

  /** Moves the clock on; its timers fire in order. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#clock.now() + ms;
    await this.#stillness.wait(() => false);
    for (let count = 0; (this.#clock.nextMs ?? Infinity) <= endMs; count += 1) {
      if (count === maxTimers)
        throw new Error(
          `more than ${maxTimers} timers fire within ${ms / 1000} s; advance the clock by less`,
        );
      await this.#fire(() => false);
    }
    this.#clock.moveTo(endMs);
  }

  /** Ends the running work, too. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#upstreams.close(); // the gateway waits for its calls
    try {
      await this.#gateway.close({ isBroken: true });
    } finally {
      this.#guard.close();
    }
  }

  /** Sends a request on its own connection, whose far end identifies the record of the request. */
  async #ask(
    request: DryRequest,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ readonly received: Received; readonly far: Duplex }> {
    const [near, far] = MemorySocket.pair();
    this.#accept(far);
    return { received: await send(request, headers, near, this.#clock), far };
  }

  #outcome(
    received: Received,
    settled: Settled | undefined,
    shared: Pick<Surroundings, 'outgoing' | 'remotes' | 'calls' | 'refused' | 'isAlone'>,
  ): DryOutcome {
    const id = settled?.record.id ?? received.headers['x-request-id'] ?? '';
    const slots = this.#gateway.services.slots.list();
    return outcomeOf(received, settled, { ...shared, slots, log: this.#log.take(id) });
  }

  /** Waits for work; moves the clock to the next timer whenever nothing else is running. */
  async #until<Result>(work: Promise<Result>): Promise<Result> {
    let isOver = false;
    const over = () => isOver;
    const end = (): void => void (isOver = true);
    work.then(end, end);
    const endMs = this.#clock.now() + maxWaitMs;
    await this.#stillness.wait(over);
    for (let count = 0; !over(); count += 1) {
      const nextMs = this.#clock.nextMs ?? Infinity;
      if (nextMs > endMs || count === maxTimers)
        throw new Error('a request waits for something that does not happen within a day on the dry clock');
      await this.#fire(over);
    }
    return work;
  }

  async #fire(isOver: () => boolean): Promise<void> {
    if (this.#isClosed) throw new Error('the dry gateway is closed');
    if (await this.#stillness.isStillAfter(() => this.#clock.fireNext())) return;
    await this.#stillness.wait(isOver);
  }
}

function requireKnown(kind: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const meant = didYouMean(name, known);
  throw new Error(`unknown ${kind} "${name}"${meant === undefined ? '' : `; did you mean "${meant}"?`}`);
}

function refuseConnections(refused: readonly string[]): void {
  if (refused.length === 0) return;
  throw new Error(
    `a plugin connects to ${refused.join(', ')} when it is set up, which a dry run (host.dry) does not allow`,
  );
}
