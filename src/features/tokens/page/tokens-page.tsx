import { useState } from 'preact/hooks';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Button } from '../../../console/web/ui/button.js';
import { Empty } from '../../../console/web/ui/empty.js';
import { CardSkeleton, Loaded } from '../../../console/web/ui/loaded.js';
import { Page } from '../../../console/web/ui/page.js';
import { Table } from '../../../console/web/ui/table/table.js';
import { fetchAdminTokens, type AdminToken, deleteAdminToken, revokeAdminToken } from './api.js';
import { IssueTokenDialog } from './issue-token-dialog.js';
import { toast } from '../../../console/web/state/toasts.js';
import { Confirm } from '../../../console/web/ui/dialog/confirm.js';
import { Link } from '../../../console/web/ui/link.js';
import { SecretState } from '../../../console/web/ui/input/secret-state.js';
import type { Column } from '../../../console/web/ui/table/column.js';
import { actionsColumn, RowButton } from '../../../console/web/ui/table/row-actions.js';
import { RelativeTime } from '../../../console/web/ui/time.js';
import './tokens.css';

export const tokensPage: ConsolePage = {
  path: '/tokens',
  title: 'Admin tokens',
  group: 'Access',
  icon: 'lock',
  words: 'scopes scripts issue revoke',
  component: TokensPage,
};

/** Admin tokens, with which the operator's scripts call `/admin/*` and `/metrics`. */
function TokensPage() {
  const tokens = useResource('tokens', fetchAdminTokens, 15_000);
  const [isIssuing, setIssuing] = useState(false);
  const [revoking, setRevoking] = useState<AdminToken>();
  const issue = () => setIssuing(true);
  const actions = (
    <Button tone="primary" icon="plus" changes onClick={issue}>
      Issue a token
    </Button>
  );
  return (
    <Page
      title="Admin tokens"
      lead="For scripts: each may call only what its scopes allow, under /admin and /metrics."
      actions={actions}
    >
      <Loaded resource={tokens} skeleton={<CardSkeleton rows={4} height={44} />}>
        {({ data }) =>
          data.length === 0 ? (
            <NoTokens onIssue={issue} />
          ) : (
            <Table
              label="Admin tokens"
              class="tokens"
              columns={tokenColumns(setRevoking)}
              rows={data}
              keyOf={({ id }) => id}
            />
          )
        }
      </Loaded>
      {isIssuing && (
        <IssueTokenDialog
          scopes={tokens.data?.scopes ?? []}
          onClose={() => setIssuing(false)}
          onIssued={tokens.reload}
        />
      )}
      {revoking && (
        <RevokeTokenDialog issued={revoking} onClose={() => setRevoking(undefined)} onDone={tokens.reload} />
      )}
    </Page>
  );
}

function NoTokens({ onIssue }: { readonly onIssue: () => void }) {
  return (
    <div class="card">
      <Empty icon="lock" title="No admin tokens yet">
        <p>A script with a token of its own needs no master key, and the audit log knows it by its name.</p>
        <Button tone="primary" icon="plus" changes onClick={onIssue}>
          Issue the first token
        </Button>
      </Empty>
    </div>
  );
}

interface RevokeTokenDialogProps {
  readonly issued: AdminToken;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Dialog that revokes a token, or deletes an already revoked one. */
function RevokeTokenDialog({ issued, onClose, onDone }: RevokeTokenDialogProps) {
  const { id, name, last4 } = issued;
  const isRevoked = issued.revoked_at !== null;
  const confirm = async () => {
    await (isRevoked ? deleteAdminToken(id) : revokeAdminToken(id));
    toast(`${name} was ${isRevoked ? 'deleted' : 'revoked'}.`);
    onDone();
  };
  const [title, verb] = isRevoked
    ? [`Delete the revoked token ${name}?`, 'Delete']
    : [`Revoke the token ${name}?`, 'Revoke'];
  return (
    <Confirm title={title} verb={verb} onConfirm={confirm} onClose={onClose}>
      <p>
        {isRevoked ? (
          'Its name then becomes free for a new token. The audit log keeps its actions.'
        ) : (
          <>
            At once no script gets in with <span class="mono">gw-adm-…{last4}</span> any more: 401. A revoked
            token does not come back; issue a new one instead.
          </>
        )}
      </p>
    </Confirm>
  );
}

/** Columns of the table of tokens. `revoke` opens the dialog for one. */
function tokenColumns(revoke: (token: AdminToken) => void): readonly Column<AdminToken>[] {
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
