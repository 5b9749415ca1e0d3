import type { AccountKind } from '../../api/types.js';
import { Input } from '../../ui/field.js';
import { Segmented } from '../../ui/segmented.js';
import { Select } from '../../ui/select.js';
import type { AccountField, PartProps } from './slot-draft.js';

const kinds: readonly { readonly value: AccountKind; readonly text: string }[] = [
  { value: 'api-key', text: 'API key' },
  { value: 'oauth', text: 'OAuth' },
  { value: 'none', text: 'None' },
];

const keyHeaders = [
  { value: 'x-api-key', text: 'x-api-key' },
  { value: 'authorization', text: 'authorization: Bearer' },
] as const;

interface AccountProps extends PartProps {
  readonly isNew: boolean;
  /** The credential would be sent to a new destination, so it must be entered again. */
  readonly isMoved: boolean;
}

/**
 * Fields of the credential. The stored one is never shown: an empty field keeps it, unless the destination
 * changes.
 */
export function AccountFields(props: AccountProps) {
  const { draft, change } = props;
  const { accountKind } = draft;
  return (
    <fieldset>
      <legend>Account</legend>
      <Segmented
        label="Kind of account"
        value={accountKind}
        options={kinds}
        onValue={(kind) => change({ accountKind: kind })}
      />
      {props.isMoved && accountKind !== 'none' && (
        <p class="hint">It would go to another place than before: enter it again, and secret headers too.</p>
      )}
      {accountKind === 'api-key' && <ApiKey {...props} />}
      {accountKind === 'oauth' && <OAuth {...props} />}
      {accountKind === 'none' && <p class="hint">For an upstream that asks for no credential.</p>}
    </fieldset>
  );
}

function ApiKey(props: AccountProps) {
  const { header } = props.draft.account;
  return (
    <div class="columns">
      <Secret label="Key" field="key" {...props} />
      <Select
        label="Sent as"
        value={header === 'authorization' ? 'authorization' : 'x-api-key'}
        options={keyHeaders}
        onValue={setter(props, 'header')}
      />
    </div>
  );
}

function OAuth(props: AccountProps) {
  const { tokenUrl, clientId } = props.draft.account;
  return (
    <>
      <p class="hint">OAuth is for accounts whose provider permits such use.</p>
      <div class="columns">
        <Secret label="Access token" field="accessToken" {...props} />
        <Secret label="Refresh token" field="refreshToken" {...props} />
      </div>
      <Input
        label="Token URL"
        type="url"
        value={tokenUrl}
        onValue={setter(props, 'tokenUrl')}
        required
        mono
      />
      <div class="columns">
        <Input label="Client id" value={clientId} onValue={setter(props, 'clientId')} required mono />
        <Secret label="Client secret, if there is one" field="clientSecret" optional {...props} />
      </div>
    </>
  );
}

interface SecretProps extends AccountProps {
  readonly label: string;
  readonly field: AccountField;
  readonly optional?: boolean;
}

function Secret({ label, field, optional = false, ...props }: SecretProps) {
  return (
    <Input
      label={label}
      type="password"
      autocomplete="new-password"
      value={props.draft.account[field]}
      onValue={setter(props, field)}
      placeholder={props.isNew || props.isMoved ? undefined : 'unchanged'}
      required={props.isNew && !optional}
      mono
    />
  );
}

function setter({ draft, change }: PartProps, field: AccountField): (text: string) => void {
  return (text) => change({ account: { ...draft.account, [field]: text } });
}
