import { useState } from 'preact/hooks';
import { panel } from '../../api/panel.js';
import type { IssuedKey } from '../../api/types.js';
import { rememberKey } from '../../state/issued-keys.js';
import { useAction } from '../../state/use-action.js';
import { useDraft } from '../../state/use-draft.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Dialog } from '../../ui/dialog.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { Link } from '../../ui/link.js';
import { draftOf, settingsOf } from './key-draft.js';
import { KeyFields } from './key-fields.js';
import { givenOf } from './limit-draft.js';

interface IssueDialogProps {
  readonly onClose: () => void;
  readonly onIssued: () => void;
}

/** Dialog that issues a key: first its settings, then the key itself, shown only once. */
export function IssueDialog({ onClose, onIssued }: IssueDialogProps) {
  const [issued, setIssued] = useState<IssuedKey>();
  const done = (key: IssuedKey) => {
    rememberKey(key.id, key.key);
    setIssued(key);
    onIssued();
  };
  if (issued) return <ShownOnce issued={issued} onClose={onClose} />;
  return <IssueForm onClose={onClose} onIssued={done} />;
}

interface IssueFormProps {
  readonly onClose: () => void;
  readonly onIssued: (key: IssuedKey) => void;
}

function IssueForm({ onClose, onIssued }: IssueFormProps) {
  const drafting = useDraft(draftOf(null));
  const action = useAction();
  const issue = async () => {
    await action.run(async () => onIssued(await panel.issueKey(givenOf(settingsOf(drafting.draft)))));
  };
  return (
    <FormDialog title="Issue a key" verb="Issue the key" action={action} onSubmit={issue} onClose={onClose}>
      <KeyFields {...drafting} />
    </FormDialog>
  );
}

function ShownOnce({ issued, onClose }: { readonly issued: IssuedKey; readonly onClose: () => void }) {
  return (
    <Dialog title={`The key of ${issued.name}`} wide firm onClose={onClose}>
      <div class="dialog-body">
        <p>
          <b>Copy it now: it is shown this one time.</b> Only a hash of it is kept, so nobody can show it
          again.
        </p>
        <div class="shown-key">
          <code data-testid="issued-key">{issued.key}</code>
          <CopyButton text={issued.key} what="the key" words primary />
        </div>
      </div>
      <footer class="dialog-foot">
        <Link to={`/connect?key=${encodeURIComponent(issued.id)}`} class="button button-plain">
          Snippets with this key
        </Link>
        <Button tone="primary" onClick={onClose}>
          I have it
        </Button>
      </footer>
    </Dialog>
  );
}
