import { Link } from '../../../console/web/ui/link.js';
import { SecretState } from '../../../console/web/ui/input/secret-state.js';
import type { Column } from '../../../console/web/ui/table/column.js';
import { actionsColumn, RowButton } from '../../../console/web/ui/table/row-actions.js';
import { RelativeTime, Time } from '../../../console/web/ui/time.js';
import type { Key } from './api.js';
import { type KeyUsage, noDays } from './use-key-usage.js';
import { compact, counted } from '../../../console/web/format/numbers.js';
import { usd } from '../../../console/web/format/usd.js';

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
    cell: ({ name, last4, team, pipeline, note }) => (
      <>
        <span class="key-name">{name}</span>
        <span class="mono dim">sk-gw-…{last4}</span>
        {team !== null && (
          <Link to="/teams" class="key-note">
            {`Team ${teams?.get(team) ?? team}`}
          </Link>
        )}
        {pipeline !== null && <span class="dim key-note">{`Pipeline ${pipeline}`}</span>}
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

function Limits({ issued }: { readonly issued: Key }) {
  const limits = limitsInWords(issued);
  if (limits.length === 0) return <span class="dim">none</span>;
  return (
    <ul class="limits">
      {limits.map((limit) => (
        <li key={limit}>{limit}</li>
      ))}
    </ul>
  );
}

interface UsedProps {
  readonly issued: Key;
  readonly used: KeyUsage | undefined;
  readonly isLoaded: boolean;
}

/** Usage of a key; of the same height before it is loaded, and for a key without any. */
function Used({ issued, used, isLoaded }: UsedProps) {
  return (
    <div class="used">
      <Sparkline values={used?.days ?? noDays} />
      {used ? (
        <Link to={`/requests?key=${encodeURIComponent(issued.id)}`} class="num">
          {counted(used.requests, 'request')}
        </Link>
      ) : (
        <span class="dim">{isLoaded ? 'nothing' : '…'}</span>
      )}
      <span class="dim num">{used ? counted(used.tokens, 'token', compact) : '\u00a0'}</span>
    </div>
  );
}

const width = 92;
const height = 22;

/** Sparkline: a month of requests as small bars, beside the same number as text. */
function Sparkline({ values }: { readonly values: readonly number[] }) {
  const max = Math.max(1, ...values);
  const step = width / values.length;
  return (
    <svg
      class="sparkline"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
    >
      {values.map((value, day) => {
        const tall = value > 0 ? Math.max(2, (value / max) * height) : 1;
        return <rect key={day} x={day * step} y={height - tall} width={step - 0.8} height={tall} rx={0.6} />;
      })}
    </svg>
  );
}

/** Limits of a key, one phrase each. */
function limitsInWords(key: Key): readonly string[] {
  const phrases = [
    key.max_concurrent !== null && `${counted(key.max_concurrent, 'request')} at a time`,
    key.requests_per_minute !== null && `${counted(key.requests_per_minute, 'request')} a minute`,
    key.tokens_per_minute !== null && `${counted(key.tokens_per_minute, 'token', compact)} a minute`,
    key.tokens_per_day !== null && `${counted(key.tokens_per_day, 'token', compact)} a day`,
    key.tokens_per_month !== null && `${counted(key.tokens_per_month, 'token', compact)} a month`,
    key.usd_per_day !== null && `${usd(key.usd_per_day)} a day`,
    key.usd_per_month !== null && `${usd(key.usd_per_month)} a month`,
    key.models !== null && `only ${key.models.join(', ')}`,
    key.slots !== null && `only by ${key.slots.join(', ')}`,
  ];
  return phrases.filter((phrase) => phrase !== false);
}
