import type { AccountConfig } from '../../config/config.js';
import type { AccountKind } from '../../plugin/index.js';
import type { Account, AccountOptions, Credential } from './account.js';
import { OAuthAccount } from './oauth.js';

/** Opens the account of a slot; the tokens of an OAuth account are read from the store. */
export async function openAccount(config: AccountConfig, options: AccountOptions): Promise<Account> {
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
