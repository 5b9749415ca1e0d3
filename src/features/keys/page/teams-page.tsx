import { useMemo, useState } from 'preact/hooks';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { useAction } from '../../../console/web/state/use-action.js';
import { changedFields, filledFields, bindTexts, useDraft } from '../../../console/web/state/use-draft.js';
import { toast } from '../../../console/web/state/toasts.js';
import { Button } from '../../../console/web/ui/button.js';
import { Confirm } from '../../../console/web/ui/dialog/confirm.js';
import { FormDialog } from '../../../console/web/ui/dialog/form-dialog.js';
import { Empty } from '../../../console/web/ui/empty.js';
import { Input } from '../../../console/web/ui/input/field.js';
import { CardSkeleton, Loaded } from '../../../console/web/ui/loaded.js';
import { Page } from '../../../console/web/ui/page.js';
import { Table } from '../../../console/web/ui/table/table.js';
import { useSort } from '../../../console/web/ui/table/use-sort.js';
import { deleteTeam, changeTeam, makeTeam, type Team, type TeamSettings } from './api.js';
import { useTeams } from './key-fields.js';
import { limitDraftOf, limitsOf, LimitFields, type LimitDraft } from './limit-fields.js';
import { PipelineSelect } from './pipeline-select.js';
import { teamColumns } from './team-columns.js';
import './teams.css';

export const teamsPage: ConsolePage = {
  path: '/teams',
  title: 'Teams',
  group: 'Access',
  icon: 'team',
  key: 't',
  words: 'budgets limits usd',
  component: TeamsPage,
};

type Open =
  | { readonly what: 'edit'; readonly team: Team | null }
  | { readonly what: 'delete'; readonly team: Team };

/** Teams of keys, with the use of their limits and budgets. */
function TeamsPage() {
  const teams = useTeams();
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const make = () => setOpen({ what: 'edit', team: null });
  const actions = (
    <Button tone="primary" icon="plus" changes onClick={make}>
      New team
    </Button>
  );
  return (
    <Page
      title="Teams"
      lead="Keys that share limits and budgets, in addition to their own."
      actions={actions}
    >
      <Loaded resource={teams} skeleton={<CardSkeleton rows={4} height={56} />}>
        {(list) =>
          list.length === 0 ? <NoTeams onMake={make} /> : <TeamTable teams={list} onOpen={setOpen} />
        }
      </Loaded>
      {open?.what === 'edit' && <TeamForm team={open.team} onClose={close} onSaved={teams.reload} />}
      {open?.what === 'delete' && <DeleteTeam team={open.team} onClose={close} onDone={teams.reload} />}
    </Page>
  );
}

function TeamTable({
  teams,
  onOpen,
}: {
  readonly teams: readonly Team[];
  readonly onOpen: (open: Open) => void;
}) {
  const columns = useMemo(
    () =>
      teamColumns({
        onEdit: (team) => onOpen({ what: 'edit', team }),
        onDelete: (team) => onOpen({ what: 'delete', team }),
      }),
    [onOpen],
  );
  const { rows, sort, onSort } = useSort(teams, columns, { initial: { by: 'name', isDescending: false } });
  return (
    <Table
      label="Teams"
      class="teams"
      columns={columns}
      rows={rows}
      keyOf={({ id }) => id}
      sort={sort}
      onSort={onSort}
    />
  );
}

interface DeleteTeamProps {
  readonly team: Team;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function DeleteTeam({ team, onClose, onDone }: DeleteTeamProps) {
  const remove = async () => {
    await deleteTeam(team.id);
    toast(`The team ${team.name} was deleted.`);
    onDone();
  };
  return (
    <Confirm title={`Delete the team ${team.name}?`} verb="Delete" onConfirm={remove} onClose={onClose}>
      <p>
        Only a team without keys can be deleted, since its keys would lose the limits and budgets of the team.
        The ledger keeps the requests of the team.
      </p>
    </Confirm>
  );
}

function NoTeams({ onMake }: { readonly onMake: () => void }) {
  return (
    <div class="card">
      <Empty icon="team" title="No teams yet">
        <p>
          The keys of a team share its limits and its budget in USD, beside their own: the tighter one
          decides.
        </p>
        <Button tone="primary" icon="plus" changes onClick={onMake}>
          Make the first team
        </Button>
      </Empty>
    </div>
  );
}

interface TeamFormProps {
  /** Null for a new one. */
  readonly team: Team | null;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** Dialog that creates or changes a team. */
function TeamForm({ team, onClose, onSaved }: TeamFormProps) {
  const [before] = useState(() => draftOf(team));
  const drafting = useDraft(before);
  const tied = bindTexts(drafting);
  const action = useAction();
  const save = async () => {
    const settings = settingsOf(drafting.draft);
    const isSaved = await action.run(async () => {
      if (team) await changeTeam(team.id, changedFields(settings, settingsOf(before)));
      else await makeTeam(filledFields(settings));
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
      <PipelineSelect
        value={drafting.draft.pipeline}
        none="that of the request"
        hint="The pipeline of its keys that name none themselves."
        onValue={(pipeline) => drafting.change({ pipeline })}
      />
      <LimitFields {...drafting} />
    </FormDialog>
  );
}

/** Texts of the team form as typed. */
interface TeamDraft extends LimitDraft {
  readonly name: string;
  readonly note: string;
  /** Empty: none. */
  readonly pipeline: string;
}

function draftOf(team: Team | null): TeamDraft {
  return {
    name: team?.name ?? '',
    note: team?.note ?? '',
    pipeline: team?.pipeline ?? '',
    ...limitDraftOf(team),
  };
}

/** All settings of the form; null for an empty field. */
function settingsOf(draft: TeamDraft): TeamSettings {
  return {
    name: draft.name.trim(),
    note: draft.note.trim() || null,
    pipeline: draft.pipeline || null,
    ...limitsOf(draft),
  };
}
