import { useState } from 'preact/hooks';
import { rememberKey } from '../../../console/web/state/issued-keys.js';
import { toast } from '../../../console/web/state/toasts.js';
import { useAction } from '../../../console/web/state/use-action.js';
import { changedFields, filledFields, useDraft } from '../../../console/web/state/use-draft.js';
import { FormDialog } from '../../../console/web/ui/dialog/form-dialog.js';
import { issueKey, type IssuedKey, changeKey, type Key, rotateKey } from './api.js';
import { draftOf, settingsOf, KeyFields, unknownModelsNote } from './key-fields.js';
import { Link } from '../../../console/web/ui/link.js';
import { ShownOnce } from '../../../console/web/ui/dialog/shown-once.js';
import { Select } from '../../../console/web/ui/input/select.js';

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
    await action.run(async () => onIssued(await issueKey(filledFields(settingsOf(drafting.draft)))));
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
function IssuedSecret({ issued: { id, name, key }, onClose }: IssuedSecretProps) {
  return (
    <ShownOnce title={`The key of ${name}`} secret={key} what="the key" testId="issued-key" onClose={onClose}>
      <Link to={`/connect?key=${encodeURIComponent(id)}`} class="button button-plain">
        Snippets with this key
      </Link>
    </ShownOnce>
  );
}

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
      const changed = await changeKey(issued.id, changedFields(settingsOf(draft), settingsOf(before)));
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

interface RotateDialogProps {
  readonly issued: Key;
  readonly onClose: () => void;
  readonly onRotated: () => void;
}

/** Dialog that gives a key a new secret: first the end of the old one, then the new one, shown only once. */
export function RotateDialog({ issued, onClose, onRotated }: RotateDialogProps) {
  const [rotated, setRotated] = useState<IssuedKey>();
  const [grace, setGrace] = useState<Grace>('24h');
  const action = useAction();
  const rotate = async () => {
    await action.run(async () => {
      const key = await rotateKey(issued.id, grace);
      rememberKey(key.id, key.key);
      setRotated(key);
      onRotated();
    });
  };
  if (rotated) return <IssuedSecret issued={rotated} onClose={onClose} />;
  const title = `Rotate the key of ${issued.name}`;
  return (
    <FormDialog title={title} verb="Rotate the key" action={action} onSubmit={rotate} onClose={onClose}>
      <p>The key gets a new secret. Its id, limits, team and usage stay.</p>
      <Select
        label={`End of sk-gw-…${issued.last4}`}
        hint="Earlier secrets of the key end then at the latest."
        value={grace}
        options={graces}
        onValue={setGrace}
      />
    </FormDialog>
  );
}

type Grace = '0s' | '1h' | '24h' | '7d' | '30d';

const graces = [
  { value: '0s', text: 'at once' },
  { value: '1h', text: 'in an hour' },
  { value: '24h', text: 'in 24 hours' },
  { value: '7d', text: 'in 7 days' },
  { value: '30d', text: 'in 30 days' },
] as const satisfies readonly { readonly value: Grace; readonly text: string }[];
