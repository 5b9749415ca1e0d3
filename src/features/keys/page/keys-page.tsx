import { useMemo, useState } from 'preact/hooks';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { changeQuery, usePlace } from '../../../console/web/state/location.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Button } from '../../../console/web/ui/button.js';
import { Empty } from '../../../console/web/ui/empty.js';
import { Loaded, Skeleton } from '../../../console/web/ui/loaded.js';
import { Page } from '../../../console/web/ui/page.js';
import { fetchKeys, type Key } from './api.js';
import { IssueDialog } from './issue-dialog.js';
import { KeyForm } from './key-form.js';
import { KeyLists } from './key-table.js';
import { RevokeDialog } from './revoke-dialog.js';
import { RotateDialog } from './rotate-dialog.js';
import { useTeams } from './use-teams.js';
import { useKeyUsage } from './use-key-usage.js';
import './keys.css';

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
    <Page title="Keys" lead="Who may call the gateway, and how much." actions={actions}>
      <Loaded resource={keys} skeleton={<KeysSkeleton />}>
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

function KeysSkeleton() {
  return (
    <div class="card">
      <Skeleton rows={5} height={44} />
    </div>
  );
}
