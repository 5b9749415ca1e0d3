import { Select } from '../../../console/web/ui/select.js';
import type { SlotKind, SlotKinds } from './api.js';
import { LocalHint } from './local-hint.js';
import { OptionInputs } from './option-inputs.js';
import { draftFields, kindOf, type PartProps } from './slot-draft.js';

interface AccountProps extends PartProps {
  /** The account is the stored one, so that its secrets may stay. */
  readonly isStored: boolean;
  /** The credential would be sent to a new destination, so it must be entered again. */
  readonly isMoved: boolean;
}

/**
 * Fields of the credential. The stored one is never shown: an empty field keeps it, unless the destination
 * changes.
 */
export function AccountFields({ isStored, isMoved, ...props }: AccountProps) {
  const { draft, change, kinds, errorAt } = props;
  const kind = kindOf(kinds.accounts, draft.accountKind);
  const fields = draftFields(draft, kinds).filter(({ path: [part] }) => part === 'account');
  return (
    <fieldset>
      <legend>Account</legend>
      <Select
        label="Kind of account"
        value={draft.accountKind}
        options={accountsFor(kindOf(kinds.upstreams, draft.upstream), kinds, draft.accountKind)}
        onValue={(accountKind) => change({ accountKind })}
        hint={kind?.description ?? undefined}
        error={errorAt('account.kind') ?? kind?.problem ?? undefined}
      />
      {isMoved && fields.some(({ secret }) => secret) && (
        <p class="hint">It would go to another place than before: enter it again, and secret headers too.</p>
      )}
      <OptionInputs
        {...props}
        fields={fields}
        keepsSecrets={isStored && !isMoved}
        others="More about the account"
      />
      <LocalHint kind={kind} />
    </fieldset>
  );
}

/** Kinds of account that an upstream takes, and the one that is chosen. */
function accountsFor(upstream: SlotKind | undefined, { accounts }: SlotKinds, chosen: string) {
  const fit = upstream?.accounts ?? accounts.map(({ use }) => use);
  return accounts
    .filter(({ use }) => fit.includes(use) || use === chosen)
    .map(({ use, title }) => ({ value: use, text: title ?? use }));
}
