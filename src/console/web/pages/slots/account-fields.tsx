import type { AccountKind } from '../../api/types.js';
import { Input } from '../../ui/field.js';
import { Segmented } from '../../ui/segmented.js';
import { Select } from '../../ui/select.js';
import type { AccountField } from './slot-draft.js';
import type { PartProps } from './slot-form.js';

const kinds: readonly { readonly value: AccountKind; readonly text: string }[] = [
  { value: 'api-key', text: 'API key' },
  { value: 'oauth', text: 'OAuth' },
  { value: 'none', text: 'None' },
];

const keyHeaders = [
  { value: 'x-api-key', text: 'x-api-key' },
  { value: 'authorization', text: 'authorization: Bearer' },
] as const;

/** The credential. What is stored is never shown: an empty field keeps it. */
export function AccountFields({ draft, change, isNew }: PartProps & { readonly isNew: boolean }) {
  const { accountKind, account } = draft;
  const set = (field: AccountField) => (text: string) => change({ account: { ...account, [field]: text } });
  const secret = (label: string, field: AccountField, required = true) => (
    <Input
      label={label}
      type="password"
      autocomplete="new-password"
      value={account[field]}
      onValue={set(field)}
      placeholder={isNew ? undefined : 'unchanged'}
      required={isNew && required}
      mono
    />
  );
  return (
    <fieldset>
      <legend>Account</legend>
      <Segmented
        label="Kind of account"
        value={accountKind}
        options={kinds}
        onValue={(kind) => change({ accountKind: kind })}
      />
      {accountKind === 'api-key' && (
        <div class="columns">
          {secret('Key', 'key')}
          <Select
            label="Sent as"
            value={account.header === 'authorization' ? 'authorization' : 'x-api-key'}
            options={keyHeaders}
            onValue={set('header')}
          />
        </div>
      )}
      {accountKind === 'oauth' && (
        <>
          <p class="hint">OAuth is for accounts whose provider permits such use.</p>
          <div class="columns">
            {secret('Access token', 'accessToken')}
            {secret('Refresh token', 'refreshToken')}
          </div>
          <Input
            label="Token URL"
            type="url"
            value={account.tokenUrl}
            onValue={set('tokenUrl')}
            required
            mono
          />
          <div class="columns">
            <Input label="Client id" value={account.clientId} onValue={set('clientId')} required mono />
            {secret('Client secret, if there is one', 'clientSecret', false)}
          </div>
        </>
      )}
      {accountKind === 'none' && <p class="hint">For an upstream that asks for no credential.</p>}
    </fieldset>
  );
}
