import { useState } from 'preact/hooks';
import { toast } from '../../../console/web/state/toasts.js';
import { useAction } from '../../../console/web/state/use-action.js';
import { useDraft } from '../../../console/web/state/use-draft.js';
import { FormDialog } from '../../../console/web/ui/form-dialog.js';
import { changeKey, type Key } from './api.js';
import { draftOf, settingsOf } from './key-draft.js';
import { KeyFields } from './key-fields.js';
import { changesOf } from './limit-draft.js';
import { unknownModelsNote } from './key-fields.js';

interface KeyFormProps {
  readonly issued: Key;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function KeyForm({ issued, onClose, onSaved }: KeyFormProps) {
  const [before] = useState(() => draftOf(issued));
  const drafting = useDraft(before);
  const { draft } = drafting;
  const action = useAction();
  const save = async () => {
    let unknown: readonly string[] = [];
    const isSaved = await action.run(async () => {
      const changed = await changeKey(issued.id, changesOf(settingsOf(draft), settingsOf(before)));
      unknown = changed.unknown_models;
    });
    if (!isSaved) return;
    toast(`${draft.name} was changed.${unknownModelsNote(unknown)}`);
    onSaved();
    onClose();
  };
  return (
    <FormDialog title={`Edit ${issued.name}`} verb="Save" action={action} onSubmit={save} onClose={onClose}>
      <KeyFields {...drafting} />
    </FormDialog>
  );
}
