import { countChanges } from '../../config/diff/config-diff.js';
import {
  type GatewayOptions,
  type ReloadOptions,
  type ReloadResult,
  failedTests,
  refusedByTests,
} from '../options.js';
import type { Services } from '../services.js';
import type { CurrentConfig, Preview } from './current-config.js';
import type { Prepared } from './prepared.js';
import { SharedWork } from './shared-work.js';
import type { ReloadEvent } from '../../plugin/index.js';
import { ReloadMetrics } from './reload-metrics.js';

interface ReloadsParts {
  readonly services: Services;
  readonly options: GatewayOptions;
  /** Aborts once no config may be taken any more. */
  readonly closing: AbortSignal;
}

/** Reloads of a gateway: tested before, counted and timed. */
export class Reloads {
  readonly #current: CurrentConfig;
  readonly #options: GatewayOptions;
  readonly #tests: NextConfigTests;
  readonly #measured: MeasuredReloads;
  readonly #preview: SharedWork<Preview>;

  constructor(current: CurrentConfig, { services, options, closing }: ReloadsParts) {
    this.#current = current;
    this.#options = options;
    this.#tests = new NextConfigTests(current, { ...options, closing });
    this.#measured = new MeasuredReloads(services);
    this.#preview = new SharedWork(() => current.preview());
  }

  /**
   * Swaps in the current config, in all processes of the group; requests in flight finish on the old one. Throws
   * ConfigError, and `shutting_down` once the gateway closes.
   */
  async run({ skipsTests = false }: ReloadOptions = {}): Promise<ReloadResult> {
    this.#current.refuseIfClosing();
    if (!skipsTests) await this.test();
    const { workerGroup } = this.#options;
    return workerGroup ? workerGroup.reload() : (await this.prepare()).take();
  }

  /** Runs the tests of the current config. Throws as `run`. */
  async test(): Promise<void> {
    this.#current.refuseIfClosing();
    await this.#measured.check(this.#tests.run());
  }

  /** Prepares a reload of this process alone; the old config stays in force until it is taken. Throws as `run`. */
  prepare(): Promise<Prepared> {
    return this.#measured.prepare(() => this.#current.prepare());
  }

  /**
   * Reports the changes of a reload, and why it would be refused; the config in force stays. Waiting callers share the
   * next one; throws as `run`.
   */
  preview(): Promise<Preview> {
    return this.#preview.run();
  }
}

interface NextConfigTestsOptions extends Pick<GatewayOptions, 'testConfig' | 'log'> {
  /** Aborts once no config may be taken any more. */
  readonly closing: AbortSignal;
}

/** Tests of the config for a reload, one run at a time, each in a process of its own. */
class NextConfigTests {
  readonly #current: CurrentConfig;
  readonly #options: NextConfigTestsOptions;
  #running: Promise<unknown> = Promise.resolve();

  constructor(current: CurrentConfig, options: NextConfigTestsOptions) {
    this.#current = current;
    this.#options = options;
  }

  /**
   * Runs them. Throws `conflict` with the failed tests and the pending changes, and a ConfigError if the config itself
   * is refused.
   */
  async run(): Promise<void> {
    const { testConfig, closing, log } = this.#options;
    if (!testConfig) return;
    const running = this.#running.then(() => testConfig(closing));
    this.#running = running.catch(() => undefined);
    const { failures } = await running;
    this.#current.refuseIfClosing();
    if (failures.length === 0) return;
    const { changes } = await this.#current.preview();
    log.error({ failures, changes: countChanges(changes) }, failedTests);
    throw refusedByTests(failures, { changes });
  }
}

/** Reloads of this process, each counted and timed. */
class MeasuredReloads {
  readonly #metrics: ReloadMetrics;
  readonly #now: () => number;
  readonly #tell: (outcome: ReloadEvent['outcome']) => void;

  constructor({ metrics, now, events }: Pick<Services, 'metrics' | 'now' | 'events'>) {
    this.#metrics = new ReloadMetrics(metrics, now);
    this.#tell = (outcome) => events.emit('reload', { outcome, atMs: now() });
    this.#now = now;
  }

  /** Counts a reload as refused if its config is. */
  async check<Result>(checking: Promise<Result>): Promise<Result> {
    try {
      return await checking;
    } catch (error) {
      this.#refused();
      throw error;
    }
  }

  /** Prepares a reload that is measured until it is taken; a discarded one is counted elsewhere. */
  async prepare(prepare: () => Promise<Prepared>): Promise<Prepared> {
    const sinceMs = this.#now();
    const prepared = await this.check(prepare());
    const tookMs = this.#now() - sinceMs;
    return {
      changes: prepared.changes,
      runtime: prepared.runtime,
      hold: (onEnd) =>
        prepared.hold((end) => {
          if (end === 'committed') this.#taken(this.#now() - tookMs); // without the time of the canary
          onEnd(end);
        }),
      take: async () => {
        const taken = await this.check(prepared.take());
        this.#taken(sinceMs);
        return taken;
      },
      leave: () => {
        this.#refused();
        return prepared.leave();
      },
    };
  }

  #taken(sinceMs: number): void {
    this.#metrics.taken(sinceMs);
    this.#tell('taken');
  }

  #refused(): void {
    this.#metrics.refused();
    this.#tell('refused');
  }
}
