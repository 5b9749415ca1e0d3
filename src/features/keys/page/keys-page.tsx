import { useMemo, useState } from 'preact/hooks';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { changeQuery, usePlace, navigate } from '../../../console/web/state/location.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Button } from '../../../console/web/ui/button.js';
import { Empty } from '../../../console/web/ui/empty.js';
import { CardSkeleton, Loaded } from '../../../console/web/ui/loaded.js';
import { Page } from '../../../console/web/ui/page.js';
import { fetchKeys, type Key } from './api.js';
import { IssueDialog, KeyForm, RotateDialog } from './key-dialogs.js';
import { RevokeDialog } from './revoke-dialog.js';
import { useTeams } from './key-fields.js';
import { useKeyUsage } from './use-key-usage.js';
import { useSearch } from '../../../console/web/state/use-search.js';
import { SearchField } from '../../../console/web/ui/input/search-field.js';
import { ExportButtons } from '../../../console/web/ui/table/export-buttons.js';
import { Table } from '../../../console/web/ui/table/table.js';
import { useSort } from '../../../console/web/ui/table/use-sort.js';
import { keyColumns, type KeyTableProps } from './key-columns.js';
import './keys.css';
import { action, type Command } from '../../../console/web/shell/palette/command.js';

export const keysPage: ConsolePage = {
  path: '/keys',
  title: 'Keys',
  group: 'Access',
  icon: 'keys',
  key: 'k',
  words: 'limits issue revoke',
  isMain: true,
  component: KeysPage,
};

type Open = { readonly what: 'edit' | 'rotate' | 'revoke'; readonly key: Key };

function KeysPage() {
  const keys = useResource('keys', fetchKeys, 15_000);
  const usage = useKeyUsage();
  const { data: teams } = useTeams();
  const teamNames = useMemo(() => teams && new Map(teams.map(({ id, name }) => [id, name])), [teams]);
  const isIssuing = usePlace().query.has('issue');
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const issue = () => changeQuery({ issue: '1' });
  const actions = (
    <Button tone="primary" icon="plus" changes onClick={issue}>
      Issue a key
    </Button>
  );
  return (
    <Page title="Keys" lead="Who may call the gateway, and how often." actions={actions}>
      <Loaded resource={keys} skeleton={<CardSkeleton rows={5} height={44} />}>
        {(list) =>
          list.length === 0 ? (
            <NoKeys onIssue={issue} />
          ) : (
            <KeyLists
              keys={list}
              usage={usage}
              teams={teamNames}
              onEdit={(key) => setOpen({ what: 'edit', key })}
              onRotate={(key) => setOpen({ what: 'rotate', key })}
              onRevoke={(key) => setOpen({ what: 'revoke', key })}
            />
          )
        }
      </Loaded>
      {isIssuing && <IssueDialog onClose={() => changeQuery({ issue: null })} onIssued={keys.reload} />}
      {open?.what === 'edit' && <KeyForm issued={open.key} onClose={close} onSaved={keys.reload} />}
      {open?.what === 'rotate' && <RotateDialog issued={open.key} onClose={close} onRotated={keys.reload} />}
      {open?.what === 'revoke' && <RevokeDialog issued={open.key} onClose={close} onDone={keys.reload} />}
    </Page>
  );
}

function NoKeys({ onIssue }: { readonly onIssue: () => void }) {
  return (
    <div class="card">
      <Empty icon="keys" title="No keys yet">
        <p>Give each person or program a key of its own: it can be limited, watched and revoked by itself.</p>
        <Button tone="primary" icon="plus" changes onClick={onIssue}>
          Issue the first key
        </Button>
      </Empty>
    </div>
  );
}

/** Lists of active and revoked keys with one search; the revoked ones, which the ledger refers to, are collapsed. */
function KeyLists({ keys, ...rest }: KeyTableProps) {
  const { usage, teams } = rest;
  const columns = useMemo(() => keyColumns(rest), [usage, teams]);
  const found = useSearch(keys, ({ name, note, last4, id }) => `${name} ${last4} ${note ?? ''} ${id}`);
  const { sort, rows, onSort } = useSort(found, columns);
  const active = rows.filter((key) => key.revoked_at === null);
  const revoked = rows.filter((key) => key.revoked_at !== null);
  const shared = { class: 'keys', columns, keyOf: ({ id }: Key) => id, sort, onSort, pageSize: 50 };
  return (
    <>
      <div class="table-tools">
        <SearchField label="Search keys" />
        <span class="end">
          <ExportButtons name="keys" columns={columns} rows={rows} />
        </span>
      </div>
      {active.length > 0 ? (
        <Table label="Active keys" rows={active} {...shared} />
      ) : (
        <p class="card dim">
          {found.length < keys.length ? 'No active key matches.' : 'Every key is revoked.'}
        </p>
      )}
      {revoked.length > 0 && (
        <details class="folded">
          <summary>Revoked keys ({revoked.length})</summary>
          <Table label="Revoked keys" rows={revoked} {...shared} />
        </details>
      )}
    </>
  );
}

/** Commands of the palette for keys: to issue one, to find one, and its requests. */
export function useKeyCommands(): readonly Command[] {
  const { data: keys = [] } = useResource('palette keys', fetchKeys);
  return [issue, ...keys.map(keyCommand), ...keys.map(keyRequests)];
}

const issue = action('Issue a key', 'plus', () => navigate('/keys?issue=1'), 'new create');

function keyCommand({ id, name, last4, note }: Key): Command {
  return {
    id: `key ${id}`,
    group: 'Keys',
    text: name,
    icon: 'keys',
    note: `…${last4}`,
    words: `${last4} ${note ?? ''} ${id}`,
    run: () => navigate(`/keys?q=${encodeURIComponent(name)}`),
  };
}

function keyRequests({ id, name, last4 }: Key): Command {
  return {
    id: `requests of key ${id}`,
    group: 'Requests',
    text: `Requests of ${name}`,
    icon: 'requests',
    note: `…${last4}`,
    words: `key ${last4}`,
    run: () => navigate(`/requests?key=${encodeURIComponent(id)}`),
  };
}
