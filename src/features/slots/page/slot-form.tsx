import { useState } from 'preact/hooks';
import { toast } from '../../../console/web/state/toasts.js';
import { useAction } from '../../../console/web/state/use-action.js';
import { useDraft } from '../../../console/web/state/use-draft.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Dialog } from '../../../console/web/ui/dialog/dialog.js';
import { FormDialog } from '../../../console/web/ui/dialog/form-dialog.js';
import { Loaded, Skeleton } from '../../../console/web/ui/loaded.js';
import { addSlot, changeSlot, fetchSlotKinds, type Slot, type SlotKinds, type SlotKind } from './api.js';
import {
  draftFields,
  draftOf,
  entryOf,
  goesElsewhere,
  patchOf,
  pathOf,
  kindOf,
  type PartProps,
} from './slot-draft.js';
import { Network, Shares, Upstream, LocalHint } from './slot-parts.js';
import { ConsoleError } from '../../../console/web/api/call.js';
import { Select } from '../../../console/web/ui/input/select.js';
import { OptionInputs } from './option-inputs.js';

interface SlotFormProps {
  /** Null for a new slot. */
  readonly slot: Slot | null;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** Form of a slot, once the kinds that it may have are known. */
export function SlotForm(props: SlotFormProps) {
  const kinds = useResource('slot-kinds', fetchSlotKinds);
  if (kinds.data) return <KnownSlotForm {...props} kinds={kinds.data} />;
  return (
    <Dialog title={titleOf(props.slot)} wide onClose={props.onClose}>
      <div class="dialog-body">
        <Loaded resource={kinds} skeleton={<Skeleton rows={6} height={42} />}>
          {() => null}
        </Loaded>
      </div>
    </Dialog>
  );
}

function KnownSlotForm({ slot, onClose, onSaved, kinds }: SlotFormProps & { readonly kinds: SlotKinds }) {
  const [before] = useState(() => draftOf(slot, kinds));
  const drafting = useDraft(before);
  const { draft } = drafting;
  const action = useAction();
  const errors = fieldErrors(action.error, [...fixedPaths, ...draftFields(draft, kinds).map(pathOf)]);
  const part = { ...drafting, kinds, errorAt: errors.at };
  const isMoved = slot !== null && goesElsewhere(draft, before);
  const isStored = slot !== null && draft.accountKind === before.accountKind;
  const save = async () => {
    const isSaved = await action.run(async () => {
      if (slot) await changeSlot(slot.id, patchOf(draft, before, kinds));
      else await addSlot(entryOf(draft, kinds));
    });
    if (!isSaved) return;
    toast(slot ? `${slot.id} was changed.` : `${draft.id} takes requests now.`);
    onSaved();
    onClose();
  };
  return (
    <FormDialog
      title={titleOf(slot)}
      verb={slot ? 'Save' : 'Add the slot'}
      action={{ ...action, error: errors.rest }}
      onSubmit={save}
      onClose={onClose}
    >
      <Upstream {...part} isNew={!slot} isMoved={isMoved} />
      <AccountFields {...part} isStored={isStored} isMoved={isMoved} />
      <Shares {...part} />
      <Network {...part} />
    </FormDialog>
  );
}

function titleOf(slot: Slot | null): string {
  return slot ? `Edit ${slot.id}` : 'Add a slot';
}

/** Paths of the inputs that every slot has. */
const fixedPaths = [
  'id',
  'upstream',
  'baseUrl',
  'account.kind',
  'models',
  'maxConcurrent',
  'weight',
  'proxy',
  'headers',
  'connectTimeout',
] as const;

interface FieldErrors {
  /** Problem of a field, by its path, or of a part of its value. */
  readonly at: (path: string) => string | undefined;
  /** The error for below the form: the problems without a field, or the number of the others. */
  readonly rest: ConsoleError | undefined;
}

/** Splits an error of the API, a problem a line with its path first, over the fields of a form. */
function fieldErrors(error: ConsoleError | undefined, paths: readonly string[]): FieldErrors {
  const lines = (error?.message ?? '').split('\n').map((line) => {
    const [, path = '', message = line] = /^([^\s:]+(?: [^\s:]+)*): (.+)$/.exec(line) ?? [];
    return { line, message, field: paths.find((each) => isWithin(path, each)) };
  });
  const placed = lines.filter(({ field }) => field !== undefined);
  const others = lines.filter(({ field }) => field === undefined);
  const texts = new Map(placed.map(({ field, message }) => [field, message]));
  return { at: (path) => texts.get(path), rest: error && restOf(error, placed.length, others) };
}

function restOf(
  { status, code, retryAfterSeconds }: ConsoleError,
  placed: number,
  others: readonly { readonly line: string }[],
): ConsoleError {
  const marked = placed === 1 ? 'A field above says why.' : `${placed} fields above say why.`;
  const message = [...(placed > 0 ? [marked] : []), ...others.map(({ line }) => line)].join('\n');
  return new ConsoleError(status, code, message, retryAfterSeconds);
}

function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}

interface AccountProps extends PartProps {
  /** True for the stored account, whose secrets may stay. */
  readonly isStored: boolean;
  /** True if the credential would be sent to a new destination, and must be entered again. */
  readonly isMoved: boolean;
}

/**
 * Fields of the credential. The stored one is never shown: an empty field keeps it, unless the destination
 * changes.
 */
function AccountFields({ isStored, isMoved, ...props }: AccountProps) {
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

/** Kinds of account that an upstream takes, and the chosen one. */
function accountsFor(upstream: SlotKind | undefined, { accounts }: SlotKinds, chosen: string) {
  const fit = upstream?.accounts ?? accounts.map(({ use }) => use);
  return accounts
    .filter(({ use }) => fit.includes(use) || use === chosen)
    .map(({ use, title }) => ({ value: use, text: title ?? use }));
}
