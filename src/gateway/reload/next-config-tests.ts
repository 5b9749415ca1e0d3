import { countChanges } from '../../config/diff/config-diff.js';
import { GatewayError } from '../../plugin/index.js';
import { failedTests, type GatewayOptions } from '../options.js';
import type { CurrentConfig } from './current-config.js';

interface NextConfigTestsOptions extends Pick<GatewayOptions, 'testConfig' | 'log'> {
  /** Aborts once no config may be taken any more. */
  readonly closing: AbortSignal;
}

/** The tests of the config that a reload would take, one run at a time, each in a process of its own. */
export class NextConfigTests {
  readonly #current: CurrentConfig;
  readonly #options: NextConfigTestsOptions;
  #running: Promise<unknown> = Promise.resolve();

  constructor(current: CurrentConfig, options: NextConfigTestsOptions) {
    this.#current = current;
    this.#options = options;
  }

  /**
   * Runs them. Throws `conflict` with those that fail and with what would have changed; a ConfigError where the
   * config itself is refused.
   */
  async run(): Promise<void> {
    const { testConfig, closing, log } = this.#options;
    if (!testConfig) return;
    const running = this.#running.then(() => testConfig(closing));
    this.#running = running.catch(() => undefined);
    const { failures } = await running;
    this.#current.refuseIfClosing();
    if (failures.length === 0) return;
    const changes = await this.#current.preview();
    log.error({ failures, changes: countChanges(changes) }, failedTests);
    const message = [failedTests, ...failures].join('\n');
    throw new GatewayError('conflict', message, { details: { failures, changes } });
  }
}
