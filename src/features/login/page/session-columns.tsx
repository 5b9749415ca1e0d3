import { browserOf, nameOf } from '../../../console/web/format/person.js';
import { Badge } from '../../../console/web/ui/badge.js';
import { Button } from '../../../console/web/ui/button.js';
import type { Column } from '../../../console/web/ui/table/column.js';
import { RelativeTime } from '../../../console/web/ui/time.js';
import type { SessionItem } from './api.js';

/** Columns of the sessions; `onEnd` is called for the one whose button is clicked. */
export function sessionColumns(onEnd: (session: SessionItem) => void): readonly Column<SessionItem>[] {
  return [
    { id: 'name', head: 'Who', cell: (session) => <Who session={session} />, value: nameOf },
    {
      id: 'role',
      head: 'Role',
      cell: ({ role }) => (
        <Badge tone={role === 'viewer' ? 'info' : 'idle'} {...(role === 'viewer' && { icon: 'lock' })}>
          {role}
        </Badge>
      ),
      value: ({ role }) => role,
    },
    {
      id: 'browser',
      head: 'Browser',
      cell: ({ user_agent: agent }) =>
        agent === null ? <span class="dim">not known</span> : <span title={agent}>{browserOf(agent)}</span>,
      value: ({ user_agent: agent }) => agent && browserOf(agent),
    },
    {
      id: 'address',
      head: 'Address',
      cell: ({ address }) => <span class="mono wrap">{address ?? '–'}</span>,
      value: ({ address }) => address,
    },
    timeColumn('seen', 'Last seen', ({ last_seen_at: at }) => at),
    timeColumn('since', 'Signed in', ({ created_at: at }) => at),
    timeColumn('until', 'Ends', ({ expires_at: at }) => at),
    {
      id: 'end',
      head: 'Actions',
      isHeadHidden: true,
      class: 'row-actions',
      cell: (session) =>
        !session.current && (
          <Button
            small
            tone="quiet"
            icon="leave"
            label={`End the session of ${nameOf(session)}`}
            onClick={() => onEnd(session)}
          />
        ),
    },
  ];
}

function Who({ session }: { readonly session: SessionItem }) {
  return (
    <span class="session-who">
      <span class="wrap" title={session.subject === null ? undefined : `Subject ${session.subject}`}>
        {nameOf(session)}
      </span>
      {session.current && (
        <Badge tone="ok" icon="check">
          this browser
        </Badge>
      )}
    </span>
  );
}

function timeColumn(
  id: string,
  head: string,
  at: (session: SessionItem) => string | null,
): Column<SessionItem> {
  return {
    id,
    head,
    value: at,
    cell: (session) => {
      const time = at(session);
      return time === null ? <span class="dim">never</span> : <RelativeTime at={time} />;
    },
  };
}
