import { useState } from 'preact/hooks';
import { rememberKey } from '../../../console/web/state/issued-keys.js';
import { toast } from '../../../console/web/state/toasts.js';
import { useAction } from '../../../console/web/state/use-action.js';
import { useDraft } from '../../../console/web/state/use-draft.js';
import { FormDialog } from '../../../console/web/ui/form-dialog.js';
import { issueKey, type IssuedKey } from './api.js';
import { draftOf, settingsOf } from './key-draft.js';
import { KeyFields } from './key-fields.js';
import { givenOf } from './limit-draft.js';
import { unknownModelsNote } from './key-fields.js';
import { Link } from '../../../console/web/ui/link.js';
import { ShownOnce } from '../../../console/web/ui/shown-once.js';

interface IssueDialogProps {
  readonly onClose: () => void;
  readonly onIssued: () => void;
}

/** Dialog that issues a key: first its settings, then the key itself, shown only once. */
export function IssueDialog({ onClose, onIssued }: IssueDialogProps) {
  const [issued, setIssued] = useState<IssuedKey>();
  const done = (key: IssuedKey) => {
    rememberKey(key.id, key.key);
    if (key.unknown_models.length > 0)
      toast(`${key.name} was issued.${unknownModelsNote(key.unknown_models)}`);
    setIssued(key);
    onIssued();
  };
  if (!issued) return <IssueForm onClose={onClose} onIssued={done} />;
  return <IssuedSecret issued={issued} onClose={onClose} />;
}

interface IssueFormProps {
  readonly onClose: () => void;
  readonly onIssued: (key: IssuedKey) => void;
}

function IssueForm({ onClose, onIssued }: IssueFormProps) {
  const drafting = useDraft(draftOf(null));
  const action = useAction();
  const issue = async () => {
    await action.run(async () => onIssued(await issueKey(givenOf(settingsOf(drafting.draft)))));
  };
  return (
    <FormDialog title="Issue a key" verb="Issue the key" action={action} onSubmit={issue} onClose={onClose}>
      <KeyFields {...drafting} />
    </FormDialog>
  );
}

interface IssuedSecretProps {
  readonly issued: IssuedKey;
  readonly onClose: () => void;
}

/** Dialog with the secret of a key that was issued or rotated. */
export function IssuedSecret({ issued: { id, name, key }, onClose }: IssuedSecretProps) {
  return (
    <ShownOnce title={`The key of ${name}`} secret={key} what="the key" testId="issued-key" onClose={onClose}>
      <Link to={`/connect?key=${encodeURIComponent(id)}`} class="button button-plain">
        Snippets with this key
      </Link>
    </ShownOnce>
  );
}
