import { useState } from 'preact/hooks';
import { panel } from '../../api/panel.js';
import type { Key } from '../../api/types.js';
import { toast } from '../../state/toasts.js';
import { useAction } from '../../state/use-action.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Problem } from '../../ui/problem.js';
import { changesOf, draftOf } from './key-draft.js';
import { KeyFields } from './key-fields.js';

export interface KeyFormProps {
  readonly issued: Key;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function KeyForm({ issued, onClose, onSaved }: KeyFormProps) {
  const [before] = useState(() => draftOf(issued));
  const [draft, setDraft] = useState(before);
  const action = useAction();
  const save = async (event: Event) => {
    event.preventDefault();
    const isSaved = await action.run(async () => {
      await panel.changeKey(issued.id, changesOf(draft, before));
    });
    if (!isSaved) return;
    toast(`${draft.name} is changed.`);
    onSaved();
    onClose();
  };
  return (
    <Dialog title={`Edit ${issued.name}`} wide firm onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <div class="dialog-body form">
          <KeyFields draft={draft} change={(part) => setDraft((last) => ({ ...last, ...part }))} />
          {action.error && <Problem error={action.error} />}
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={action.isBusy}>
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
