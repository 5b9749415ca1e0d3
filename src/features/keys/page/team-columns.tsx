import { count } from '../../../console/web/format/numbers.js';
import type { Column } from '../../../console/web/ui/table/column.js';
import { actionsColumn, RowButton } from '../../../console/web/ui/table/row-actions.js';
import type { Team } from './api.js';
import { LimitUses } from './limit-uses.js';

interface TeamActions {
  readonly onEdit: (team: Team) => void;
  readonly onDelete: (team: Team) => void;
}

export function teamColumns({ onEdit, onDelete }: TeamActions): readonly Column<Team>[] {
  return [
    {
      id: 'name',
      head: 'Team',
      value: ({ name }) => name,
      cell: ({ name, note }) => (
        <>
          <span class="key-name">{name}</span>
          {note && <span class="dim key-note">{note}</span>}
        </>
      ),
    },
    {
      id: 'keys',
      head: 'Keys',
      isFigure: true,
      value: ({ keys }) => keys,
      cell: ({ keys }) => count(keys),
    },
    {
      id: 'limits',
      head: 'Limits and budgets',
      cell: (team) => <LimitUses limits={team} used={team.used} />,
    },
    actionsColumn((team) => (
      <>
        <RowButton icon="edit" label={`Edit ${team.name}`} onClick={() => onEdit(team)} />
        <RowButton icon="bin" label={`Delete ${team.name}`} onClick={() => onDelete(team)} />
      </>
    )),
  ];
}
