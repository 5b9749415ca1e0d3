import { useState } from 'preact/hooks';
import { fromInputTime } from '../../../console/web/format/times.js';
import { useAction } from '../../../console/web/state/use-action.js';
import { Input } from '../../../console/web/ui/input/field.js';
import { FormDialog } from '../../../console/web/ui/dialog/form-dialog.js';
import { ShownOnce } from '../../../console/web/ui/dialog/shown-once.js';
import { issueAdminToken, type AdminScope, type IssuedAdminToken } from './api.js';

interface IssueTokenDialogProps {
  readonly scopes: readonly AdminScope[];
  readonly onClose: () => void;
  readonly onIssued: () => void;
}

/** Dialog that issues a token: first its scopes, then the token itself, shown only once. */
export function IssueTokenDialog({ scopes, onClose, onIssued }: IssueTokenDialogProps) {
  const [issued, setIssued] = useState<IssuedAdminToken>();
  if (issued)
    return (
      <ShownOnce
        title={`The token of ${issued.name}`}
        secret={issued.token}
        what="the token"
        testId="issued-token"
        onClose={onClose}
      />
    );
  const done = (token: IssuedAdminToken) => {
    setIssued(token);
    onIssued();
  };
  return <IssueForm scopes={scopes} onClose={onClose} onIssued={done} />;
}

interface IssueFormProps extends Omit<IssueTokenDialogProps, 'onIssued'> {
  readonly onIssued: (token: IssuedAdminToken) => void;
}

function IssueForm({ scopes, onClose, onIssued }: IssueFormProps) {
  const [name, setName] = useState('');
  const [expires, setExpires] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const action = useAction();
  const issue = async () => {
    const settings = { name: name.trim(), scopes: chosen, expires_at: fromInputTime(expires) };
    await action.run(async () => onIssued(await issueAdminToken(settings)));
  };
  return (
    <FormDialog
      title="Issue an admin token"
      verb="Issue the token"
      action={action}
      onSubmit={issue}
      onClose={onClose}
    >
      <Input
        label="Name"
        value={name}
        onValue={setName}
        placeholder="prometheus, deploy, on-call-script"
        hint="The audit log identifies the token by it."
        required
      />
      <ScopeFields scopes={scopes} chosen={chosen} onChange={setChosen} />
      <Input
        label="Ends"
        type="datetime-local"
        value={expires}
        onValue={setExpires}
        hint="Empty: it does not expire."
      />
    </FormDialog>
  );
}

interface ScopeFieldsProps {
  readonly scopes: readonly AdminScope[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** A check box for each scope; the one for everything replaces the others. */
function ScopeFields({ scopes, chosen, onChange }: ScopeFieldsProps) {
  const hasAll = chosen.includes('*');
  const toggle = (name: string, isChosen: boolean) => {
    if (name === '*') onChange(isChosen ? ['*'] : []);
    else onChange(isChosen ? [...chosen, name] : chosen.filter((each) => each !== name));
  };
  return (
    <fieldset class="scopes">
      <legend>Scopes</legend>
      {scopes.map(({ name, admits }) => (
        <label key={name} class="scope">
          <input
            type="checkbox"
            checked={hasAll || chosen.includes(name)}
            disabled={hasAll && name !== '*'}
            onChange={(event) => toggle(name, event.currentTarget.checked)}
          />
          <span class="mono">{name}</span>
          <span class="dim">{admits}</span>
        </label>
      ))}
    </fieldset>
  );
}
