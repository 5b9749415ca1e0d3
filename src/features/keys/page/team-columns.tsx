import { count, compact, counted } from '../../../console/web/format/numbers.js';
import type { Column } from '../../../console/web/ui/table/column.js';
import { actionsColumn, RowButton } from '../../../console/web/ui/table/row-actions.js';
import type { Team, Limits } from './api.js';
import { usd } from '../../../console/web/format/usd.js';
import { Meter } from '../../../console/web/ui/meter.js';
import { Time } from '../../../console/web/ui/time.js';

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
      cell: ({ name, pipeline, note }) => (
        <>
          <span class="key-name">{name}</span>
          {pipeline !== null && <span class="dim key-note">{`Pipeline ${pipeline}`}</span>}
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

type Counted = keyof Team['used'];

interface Kind {
  readonly limit: Counted;
  readonly name: string;
  readonly words: (amount: number) => string;
}

const kinds: readonly Kind[] = [
  { limit: 'usd_per_day', name: 'USD today', words: usd },
  { limit: 'usd_per_month', name: 'USD this month', words: usd },
  { limit: 'requests_per_minute', name: 'Requests this minute', words: count },
  { limit: 'tokens_per_minute', name: 'Tokens this minute', words: compact },
  { limit: 'tokens_per_day', name: 'Tokens today', words: compact },
  { limit: 'tokens_per_month', name: 'Tokens this month', words: compact },
];

interface LimitUse {
  readonly amount: number;
  readonly resets_at?: string | null;
}

interface LimitUsesProps {
  readonly limits: Limits;
  /** Use of the shown limits; null or absent if not known. */
  readonly used: Readonly<Partial<Record<Counted, LimitUse | null>>>;
}

/** Limits with a meter of their use, and the limit of concurrent requests. */
function LimitUses({ limits, used }: LimitUsesProps) {
  const shown = kinds.filter(({ limit }) => limits[limit] !== null);
  const { max_concurrent: places } = limits;
  if (shown.length === 0 && places === null) return <span class="dim">none</span>;
  return (
    <ul class="limit-uses">
      {shown.map((kind) => (
        <LimitUseItem key={kind.limit} kind={kind} max={limits[kind.limit] ?? 0} use={used[kind.limit]} />
      ))}
      {places !== null && <li>{counted(places, 'request')} at a time</li>}
    </ul>
  );
}

interface LimitUseItemProps {
  readonly kind: Kind;
  readonly max: number;
  readonly use: LimitUse | null | undefined;
}

function LimitUseItem({ kind: { name, words }, max, use }: LimitUseItemProps) {
  if (!use)
    return (
      <li>
        {name}: at most {words(max)}
      </li>
    );
  const text = `${words(use.amount)} of ${words(max)}`;
  return (
    <li>
      <span class="limit-use">
        <span>{name}</span>
        <span class="num">{text}</span>
      </span>
      <Meter label={name} value={use.amount} max={max} text={text} />
      {use.amount >= max && use.resets_at && (
        <span class="dim">
          used up until <Time at={use.resets_at} />
        </span>
      )}
    </li>
  );
}
