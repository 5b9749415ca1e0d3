import type {
  Logger,
  PluginEventListener,
  PluginEventMap,
  PluginEventName,
  PluginEvents,
} from '../../../plugin/index.js';
import type { Counter } from '../../../plugin/core.js';

interface EventHubOptions {
  readonly dropped: Counter;
  /** Called when an event gets its first listener, and again after it had none. */
  readonly onFirst?: ((name: PluginEventName) => void) | undefined;
}

/** Stage whose listeners are called. */
interface ListeningStage {
  readonly name: string;
  readonly log: Logger;
  readonly onDispose: (stop: () => void) => void;
}

/** Publish/subscribe of a gateway's events to its stages. */
export class EventHub {
  readonly #options: EventHubOptions;
  readonly #subscriptions = new Map<PluginEventName, Set<Subscription>>();

  constructor(options: EventHubOptions) {
    this.#options = options;
  }

  /** True if somebody listens; events of others need not be made. */
  has(name: PluginEventName): boolean {
    return this.#subscriptions.has(name);
  }

  emit<Name extends PluginEventName>(name: Name, event: PluginEventMap[Name]): void {
    for (const subscription of this.#subscriptions.get(name) ?? []) subscription.add(event);
  }

  /** Events as one stage hears them. */
  of(stage: ListeningStage): PluginEvents {
    return { on: (name, listener) => this.#on(name, listener, stage) };
  }

  #on<Name extends PluginEventName>(
    name: Name,
    listener: PluginEventListener<Name>,
    stage: ListeningStage,
  ): () => void {
    if (!Object.hasOwn(names, name))
      throw new TypeError(`unknown event "${name}"; known events: ${Object.keys(names).join(', ')}`);
    const subscription = new Subscription({
      listener: listener as (event: unknown) => unknown, // called with events of its name
      onDrop: () => this.#options.dropped.add({ event: name, stage: stage.name }),
      onFault: (error) => stage.log.error({ err: error, event: name }, 'A listener of host.events failed.'),
    });
    this.#add(name, subscription);
    const stop = (): void => this.#remove(name, subscription);
    stage.onDispose(stop);
    return stop;
  }

  #add(name: PluginEventName, subscription: Subscription): void {
    const all = this.#subscriptions.get(name);
    if (all) return void all.add(subscription);
    this.#subscriptions.set(name, new Set([subscription]));
    this.#options.onFirst?.(name);
  }

  #remove(name: PluginEventName, subscription: Subscription): void {
    subscription.stop();
    const all = this.#subscriptions.get(name);
    if (all?.delete(subscription) && all.size === 0) this.#subscriptions.delete(name);
  }
}

const names = { 'slot.state': true, reload: true, 'request.settled': true } as const satisfies Record<
  PluginEventName,
  true
>;

interface SubscriptionParts {
  readonly listener: (event: unknown) => unknown;
  readonly onDrop: () => void;
  readonly onFault: (error: unknown) => void;
}

/** Listener with its queue, which is bounded: events beyond it are dropped. */
class Subscription {
  readonly #parts: SubscriptionParts;
  readonly #waiting: unknown[] = [];
  #isRunning = false;
  #isOver = false;

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
  }

  add(event: unknown): void {
    if (this.#isOver) return;
    if (this.#waiting.length >= maxWaiting) return this.#parts.onDrop();
    this.#waiting.push(event);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => void this.#run());
  }

  stop(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      try {
        await this.#parts.listener(this.#waiting.shift());
      } catch (error) {
        this.#parts.onFault(error);
      }
    }
    this.#isRunning = false;
  }
}

const maxWaiting = 1000;
