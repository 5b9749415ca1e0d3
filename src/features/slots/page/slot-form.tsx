import { useState } from 'preact/hooks';
import { fieldErrors } from '../../../console/web/state/field-errors.js';
import { toast } from '../../../console/web/state/toasts.js';
import { useAction } from '../../../console/web/state/use-action.js';
import { useDraft } from '../../../console/web/state/use-draft.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Dialog } from '../../../console/web/ui/dialog.js';
import { FormDialog } from '../../../console/web/ui/form-dialog.js';
import { Loaded, Skeleton } from '../../../console/web/ui/loaded.js';
import { addSlot, changeSlot, fetchSlotKinds, type Slot, type SlotKinds } from './api.js';
import { AccountFields } from './account-fields.js';
import { draftFields, draftOf, entryOf, goesElsewhere, patchOf, pathOf } from './slot-draft.js';
import { Network, Shares, Upstream } from './slot-parts.js';

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
    toast(slot ? `${slot.id} is changed.` : `${draft.id} takes requests now.`);
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
