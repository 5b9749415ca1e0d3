import { Link } from '../../../console/web/ui/link.js';
import { SecretState } from '../../../console/web/ui/secret-state.js';
import type { Column } from '../../../console/web/ui/table/column.js';
import { actionsColumn, RowButton } from '../../../console/web/ui/table/row-actions.js';
import { RelativeTime, Time } from '../../../console/web/ui/time.js';
import type { Key } from './api.js';
import { Limits, Used } from './key-cells.js';
import { limitsInWords } from './limits.js';
import type { KeyUsage } from './use-key-usage.js';

export interface KeyTableProps {
  readonly keys: readonly Key[];
  readonly usage: ReadonlyMap<string, KeyUsage> | undefined;
  /** Names of teams by id; undefined until they are loaded. */
  readonly teams: ReadonlyMap<string, string> | undefined;
  readonly onEdit: (key: Key) => void;
  readonly onRotate: (key: Key) => void;
  readonly onRevoke: (key: Key) => void;
}

/** Columns of the list of keys. */
export function keyColumns({
  usage,
  teams,
  onEdit,
  onRotate,
  onRevoke,
}: Omit<KeyTableProps, 'keys'>): readonly Column<Key>[] {
  return [
    nameColumn(teams),
    ...settingColumns,
    {
      id: 'used',
      head: 'Last 30 days',
      orders: ['least requests first', 'most requests first'],
      value: ({ id }) => usage?.get(id)?.requests ?? 0,
      cell: (key) => <Used issued={key} used={usage?.get(key.id)} isLoaded={usage !== undefined} />,
    },
    {
      id: 'last-used',
      head: 'Last used',
      orders: ['longest ago first', 'latest first'],
      value: (key) => key.last_used_at,
      cell: (key) =>
        key.last_used_at ? <RelativeTime at={key.last_used_at} /> : <span class="dim">never</span>,
    },
    actionsColumn((key) => (
      <>
        <RowButton icon="edit" label={`Edit ${key.name}`} onClick={() => onEdit(key)} />
        {key.revoked_at === null && (
          <RowButton icon="rotate" label={`Rotate ${key.name}`} onClick={() => onRotate(key)} />
        )}
        <RowButton
          icon={key.revoked_at ? 'bin' : 'stop'}
          label={key.revoked_at ? `Let ${key.name} in again or delete it` : `Revoke ${key.name}`}
          onClick={() => onRevoke(key)}
        />
      </>
    )),
  ];
}

function nameColumn(teams: KeyTableProps['teams']): Column<Key> {
  return {
    id: 'key',
    head: 'Key',
    value: ({ name }) => name,
    cell: ({ name, last4, team, note }) => (
      <>
        <span class="key-name">{name}</span>
        <span class="mono dim">sk-gw-…{last4}</span>
        {team !== null && (
          <Link to="/teams" class="key-note">
            {`Team ${teams?.get(team) ?? team}`}
          </Link>
        )}
        {note && <span class="dim key-note">{note}</span>}
      </>
    ),
  };
}

const settingColumns: readonly Column<Key>[] = [
  {
    id: 'state',
    head: 'State',
    value: (key) => key.revoked_at ?? key.expires_at,
    isSortable: false,
    cell: (key) => (
      <>
        <SecretState issued={key} />
        {key.former_secrets.map(({ last4, ends_at: endsAt }) => (
          <span key={last4 + endsAt} class="dim key-note">
            <span class="mono">…{last4}</span> works until <Time at={endsAt} />
          </span>
        ))}
      </>
    ),
  },
  {
    id: 'limits',
    head: 'Limits',
    value: (key) => limitsInWords(key).join('; '),
    isSortable: false,
    cell: (key) => <Limits issued={key} />,
  },
];
