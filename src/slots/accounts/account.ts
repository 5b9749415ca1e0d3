import type { AccountKind, CallSignal, Live, Logger, Store } from '../../plugin/index.js';

/** Headers that say who asks the upstream. */
export type Credential = Readonly<Record<string, string>>;

/** Who a slot is to its upstream. */
export interface Account {
  readonly kind: AccountKind;
  /** The headers of the next call; waits for a refresh where the token is about to expire. */
  credential(signal: CallSignal): Promise<Credential>;
  /** After a 401 to a call that went out with `refused`: whether there is another credential to try. */
  renew(refused: Credential, signal: CallSignal): Promise<boolean>;
  /** Another instance has renewed the credential. */
  renewedElsewhere(): void;
}

/** Parts of the gateway that an account is opened with. */
export interface AccountOptions {
  readonly slotId: string;
  readonly credentials: Store['credentials'];
  readonly live: Live;
  readonly proxy: string | undefined;
  /** Link-local and metadata addresses are refused. */
  readonly isGuarded?: boolean;
  readonly log: Logger;
  readonly now: () => number;
}
