import type { Clock, Logger, Models } from '../../../plugin/index.js';
import type { Live } from '../../../plugin/core.js';
import type { Store } from '../../../state/store/contract/store.js';
import type { SlotConfig } from '../../../config/config.js';
import type { OpenHttpClient } from '../../transport/http-client.js';
import type { SlotLoader } from '../open-slot.js';
import type { OnChoice } from '../selection/observed-choice.js';
import type { FindPriceGaps } from '../selection/pool-context.js';

export interface SlotPoolOptions {
  readonly slots: readonly SlotConfig[];
  readonly plugins: SlotLoader;
  readonly models: Models;
  readonly store: Pick<Store, 'bindings' | 'credentials' | 'slotStates'>;
  /** State shared by the pools of all instances: slot states, permits, bindings. */
  readonly live: Live;
  readonly log: Logger;
  readonly clock?: Clock;
  /** Notified of each choice of a slot, and of the rejected ones. */
  readonly onChoice?: OnChoice | undefined;
  /** Prices that a model lacks at a slot; default: none is known to be missing. */
  readonly priceGaps?: FindPriceGaps | undefined;
  /** Default: clients that connect. */
  readonly openClient?: OpenHttpClient | undefined;
}

/** Parts that a reload may replace besides the slots. */
export type Replacements = Partial<Pick<SlotPoolOptions, 'plugins' | 'models'>>;
