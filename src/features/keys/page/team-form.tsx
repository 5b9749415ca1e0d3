import { useState } from 'preact/hooks';
import { toast } from '../../../console/web/state/toasts.js';
import { useAction } from '../../../console/web/state/use-action.js';
import { tie, useDraft } from '../../../console/web/state/use-draft.js';
import { Input } from '../../../console/web/ui/input/field.js';
import { FormDialog } from '../../../console/web/ui/dialog/form-dialog.js';
import { changeTeam, makeTeam, type Team, type TeamSettings } from './api.js';
import { changesOf, givenOf, limitDraftOf, limitsOf, type LimitDraft } from './limit-draft.js';
import { LimitFields } from './limit-fields.js';

interface TeamFormProps {
  /** Null: a new one. */
  readonly team: Team | null;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** Dialog that makes or changes a team. */
export function TeamForm({ team, onClose, onSaved }: TeamFormProps) {
  const [before] = useState(() => draftOf(team));
  const drafting = useDraft(before);
  const tied = tie(drafting);
  const action = useAction();
  const save = async () => {
    const settings = settingsOf(drafting.draft);
    const isSaved = await action.run(async () => {
      if (team) await changeTeam(team.id, changesOf(settings, settingsOf(before)));
      else await makeTeam(givenOf(settings));
    });
    if (!isSaved) return;
    toast(`The team ${settings.name} was ${team ? 'changed' : 'created'}.`);
    onSaved();
    onClose();
  };
  const [title, verb] = team ? [`Edit ${team.name}`, 'Save'] : ['New team', 'Create the team'];
  return (
    <FormDialog title={title} verb={verb} action={action} onSubmit={save} onClose={onClose}>
      <Input label="Name" {...tied('name')} placeholder="search, support, research" required />
      <Input label="Note" {...tied('note')} placeholder="Who belongs to it" />
      <LimitFields {...drafting} />
    </FormDialog>
  );
}

/** Texts of the team form as typed. */
interface TeamDraft extends LimitDraft {
  readonly name: string;
  readonly note: string;
}

function draftOf(team: Team | null): TeamDraft {
  return { name: team?.name ?? '', note: team?.note ?? '', ...limitDraftOf(team) };
}

/** All settings of the form; null for an empty field. */
function settingsOf(draft: TeamDraft): TeamSettings {
  return { name: draft.name.trim(), note: draft.note.trim() || null, ...limitsOf(draft) };
}
