import type { AccountKind, CallSignal } from '../../plugin/index.js';
import type { AccountConfig } from '../../config/config.js';
import { OAuthAccount, type OAuthOptions } from './oauth.js';

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

/** Opens the account of a slot; the tokens of an OAuth account are read from the store. */
export async function openAccount(config: AccountConfig, options: OAuthOptions): Promise<Account> {
  if (config.kind === 'oauth') return OAuthAccount.open(config, options);
  return fixedAccount(config.kind, config.kind === 'none' ? {} : keyHeader(config));
}

function fixedAccount(kind: AccountKind, credential: Credential): Account {
  return {
    kind,
    credential: async () => credential,
    renew: async () => false,
    renewedElsewhere: () => undefined,
  };
}

function keyHeader({ header, key }: Extract<AccountConfig, { kind: 'api-key' }>): Credential {
  return header === 'x-api-key' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` };
}
