import type { ConfigDiff } from '../../config/diff/config-diff.js';
import type { GatewayOptions, ReloadOptions, Taken } from '../options.js';
import type { Services } from '../services.js';
import type { CurrentConfig } from './current-config.js';
import { MeasuredReloads } from './measured-reloads.js';
import { NextConfigTests } from './next-config-tests.js';
import type { Prepared } from './prepared.js';
import { SharedWork } from './shared-work.js';

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
  readonly #preview: SharedWork<ConfigDiff>;

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
  async run({ skipsTests = false }: ReloadOptions = {}): Promise<Taken> {
    this.#current.refuseIfClosing();
    if (!skipsTests) await this.test();
    const { workerGroup } = this.#options;
    return workerGroup ? workerGroup.reload() : (await this.prepare()).take();
  }

  /** Runs the tests of the config as it stands now. Throws as `run`. */
  async test(): Promise<void> {
    this.#current.refuseIfClosing();
    await this.#measured.check(this.#tests.run());
  }

  /** Prepares a reload of this process alone; the old config stays in force until it is taken. Throws as `run`. */
  prepare(): Promise<Prepared> {
    return this.#measured.prepare(() => this.#current.prepare());
  }

  /**
   * Says what a reload would change now; the config in force stays. Callers who wait for one share the next. Throws as
   * `run`.
   */
  preview(): Promise<ConfigDiff> {
    return this.#preview.run();
  }
}
