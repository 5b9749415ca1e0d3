import type { AccountKind, CallSignal, Live, Logger, Store } from '../../plugin/index.js';

/** Headers that identify the account to the upstream. */
export type Credential = Readonly<Record<string, string>>;

/** Account of a slot at its upstream. */
export interface Account {
  readonly kind: AccountKind;
  /** Headers for the next call; waits for a refresh if the token is about to expire. */
  credential(signal: CallSignal): Promise<Credential>;
  /**
   * Renews the credential after a 401 to a call with `refused`; true if there is another credential to try.
   */
  renew(refused: Credential, signal: CallSignal): Promise<boolean>;
  /** Called when another instance has renewed the credential. */
  renewedElsewhere(): void;
}

/** Options to open an account. */
export interface AccountOptions {
  readonly slotId: string;
  readonly credentials: Store['credentials'];
  readonly live: Live;
  readonly proxy: string | undefined;
  /** True if link-local and metadata addresses are refused. */
  readonly isGuarded?: boolean;
  readonly log: Logger;
  readonly now: () => number;
}
