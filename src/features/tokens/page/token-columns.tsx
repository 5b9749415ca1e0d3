import { Link } from '../../../console/web/ui/link.js';
import { SecretState } from '../../../console/web/ui/input/secret-state.js';
import type { Column } from '../../../console/web/ui/table/column.js';
import { actionsColumn, RowButton } from '../../../console/web/ui/table/row-actions.js';
import { RelativeTime } from '../../../console/web/ui/time.js';
import type { AdminToken } from './api.js';

/** Columns of the table of tokens. `revoke` opens the dialog for one. */
export function tokenColumns(revoke: (token: AdminToken) => void): readonly Column<AdminToken>[] {
  return [
    ...shownColumns,
    actionsColumn((token) => (
      <RowButton
        icon={token.revoked_at ? 'bin' : 'stop'}
        label={`${token.revoked_at ? 'Delete' : 'Revoke'} ${token.name}`}
        onClick={() => revoke(token)}
      />
    )),
  ];
}

const shownColumns: readonly Column<AdminToken>[] = [
  {
    id: 'token',
    head: 'Token',
    cell: ({ name, last4 }) => (
      <>
        <span class="key-name">{name}</span>
        <span class="mono dim">gw-adm-…{last4}</span>
      </>
    ),
  },
  { id: 'state', head: 'State', cell: (token) => <SecretState issued={token} /> },
  {
    id: 'scopes',
    head: 'Scopes',
    cell: ({ scopes }) => <span class="mono wrap">{scopes.join(', ')}</span>,
  },
  {
    id: 'issued',
    head: 'Issued',
    cell: (token) => (
      <>
        <RelativeTime at={token.created_at} />
        <span class="dim key-note">by {token.created_by}</span>
      </>
    ),
  },
  {
    id: 'used',
    head: 'Last used',
    cell: ({ name, last_used_at: used }) => (
      <>
        {used ? <RelativeTime at={used} /> : <span class="dim">never</span>}
        <Link to={`/audit?actor=${encodeURIComponent(name)}`} class="key-note">
          what it has done
        </Link>
      </>
    ),
  },
];
