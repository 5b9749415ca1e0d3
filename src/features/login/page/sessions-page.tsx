import { useMemo, useState } from 'preact/hooks';
import { nameOf } from '../../../console/web/format/person.js';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { useIsViewer } from '../../../console/web/state/session.js';
import { toast } from '../../../console/web/state/toasts.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Button } from '../../../console/web/ui/button.js';
import { Confirm } from '../../../console/web/ui/dialog/confirm.js';
import { CardSkeleton, Loaded } from '../../../console/web/ui/loaded.js';
import { Page } from '../../../console/web/ui/page.js';
import { Table } from '../../../console/web/ui/table/table.js';
import { useSort } from '../../../console/web/ui/table/use-sort.js';
import { endOtherSessions, endSession, fetchSessions, type SessionItem } from './api.js';
import { sessionColumns } from './session-columns.js';
import './sessions.css';

export const sessionsPage: ConsolePage = {
  path: '/sessions',
  title: 'Sessions',
  group: 'Access',
  icon: 'person',
  words: 'people signed in login end role',
  component: SessionsPage,
};

/** `others`: all sessions but that of this browser. */
type Ending = SessionItem | 'others' | undefined;

function SessionsPage() {
  const sessions = useResource('sessions', fetchSessions, 15_000);
  const isViewer = useIsViewer();
  const [ending, setEnding] = useState<Ending>();
  const others = sessions.data?.filter(({ current }) => !current) ?? [];
  const actions = (
    <Button icon="leave" disabled={others.length === 0} onClick={() => setEnding('others')}>
      End all others
    </Button>
  );
  return (
    <Page
      title="Sessions"
      lead={isViewer ? 'Where you are signed in; admins see everybody.' : 'Who is signed in to this console.'}
      actions={actions}
    >
      <Loaded resource={sessions} skeleton={<CardSkeleton rows={4} height={44} />}>
        {(list) => (
          <>
            <Sessions list={list} onEnd={setEnding} />
            <p class="dim session-note">
              A role is that of the login: a change of groups counts from the next one on. A session that is
              ended is over at once, on all instances of this gateway.
            </p>
          </>
        )}
      </Loaded>
      {ending !== undefined && (
        <EndDialog
          ending={ending}
          number={others.length}
          onClose={() => setEnding(undefined)}
          onDone={sessions.reload}
        />
      )}
    </Page>
  );
}

interface SessionsProps {
  readonly list: readonly SessionItem[];
  readonly onEnd: (session: SessionItem) => void;
}

function Sessions({ list, onEnd }: SessionsProps) {
  const columns = useMemo(() => sessionColumns(onEnd), [onEnd]);
  const { rows, sort, onSort } = useSort(list, columns);
  if (list.length === 0) return <p class="dim">Nobody is signed in; you are here with the master key.</p>;
  return (
    <Table
      label="Sessions"
      class="session-table"
      columns={columns}
      rows={rows}
      keyOf={({ id }) => id}
      sort={sort}
      onSort={onSort}
    />
  );
}

interface EndDialogProps {
  readonly ending: SessionItem | 'others';
  readonly number: number;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function EndDialog({ ending, number, onClose, onDone }: EndDialogProps) {
  const isAll = ending === 'others';
  const end = async () => {
    if (isAll) toast(endedText((await endOtherSessions()).ended));
    else {
      await endSession(ending.id);
      toast(`The session of ${nameOf(ending)} was ended.`);
    }
    onDone();
  };
  const title = isAll ? 'End all other sessions?' : `End the session of ${nameOf(ending)}?`;
  return (
    <Confirm title={title} verb="End" isForViewers onConfirm={end} onClose={onClose}>
      <p>
        {isAll
          ? `${number === 1 ? 'One session is' : `${number} sessions are`} over at once, wherever they are open; yours goes on.`
          : 'It is over at once, wherever it is open.'}{' '}
        Whoever may sign in can do so again.
      </p>
    </Confirm>
  );
}

function endedText(number: number): string {
  return number === 1 ? 'One session has ended.' : `${number} sessions have ended.`;
}
