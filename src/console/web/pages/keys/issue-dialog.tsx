import { useState } from 'preact/hooks';
import { panel } from '../../api/panel.js';
import type { IssuedKey } from '../../api/types.js';
import { rememberKey } from '../../state/issued-keys.js';
import { useAction } from '../../state/use-action.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Dialog } from '../../ui/dialog.js';
import { Link } from '../../ui/link.js';
import { Problem } from '../../ui/problem.js';
import { draftOf, givenOf } from './key-draft.js';
import { KeyFields } from './key-fields.js';

export interface IssueDialogProps {
  readonly onClose: () => void;
  readonly onIssued: () => void;
}

/** First what the key may do, then the key itself, which is shown this one time. */
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
  const [draft, setDraft] = useState(() => draftOf(null));
  const action = useAction();
  const submit = async (event: Event) => {
    event.preventDefault();
    await action.run(async () => onIssued(await panel.issueKey(givenOf(draft))));
  };
  return (
    <Dialog title="Issue a key" wide firm onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <div class="dialog-body form">
          <KeyFields draft={draft} change={(part) => setDraft((last) => ({ ...last, ...part }))} />
          {action.error && <Problem error={action.error} />}
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={action.isBusy}>
            Issue the key
          </Button>
        </footer>
      </form>
    </Dialog>
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
