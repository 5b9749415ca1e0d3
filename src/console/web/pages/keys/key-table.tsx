import type { Key } from '../../api/types.js';
import { compact, count } from '../../format/numbers.js';
import { useNow } from '../../state/now.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Link } from '../../ui/link.js';
import { RelativeTime, Time } from '../../ui/time.js';
import { limitsInWords } from './limits.js';
import { Sparkline } from './sparkline.js';
import type { KeyUsage } from './use-key-usage.js';

export interface KeyTableProps {
  readonly keys: readonly Key[];
  readonly usage: ReadonlyMap<string, KeyUsage> | undefined;
  /** Names of teams by id; undefined until they are loaded. */
  readonly teams: ReadonlyMap<string, string> | undefined;
  readonly onEdit: (key: Key) => void;
  readonly onRevoke: (key: Key) => void;
}

/** Table of keys; on a phone its rows are cards. */
export function KeyTable({ keys, usage, ...rest }: KeyTableProps) {
  return (
    <div class="card table-card">
      <table class="table keys cards-when-narrow">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col" class="column-state">
              State
            </th>
            <th scope="col">Limits</th>
            <th scope="col" class="column-used">
              Last 30 days
            </th>
            <th scope="col" class="column-last-used">
              Last used
            </th>
            <th scope="col" class="column-actions">
              <span class="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <Row key={key.id} issued={key} used={usage?.get(key.id)} {...rest} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps extends Pick<KeyTableProps, 'teams' | 'onEdit' | 'onRevoke'> {
  readonly issued: Key;
  readonly used: KeyUsage | undefined;
}

function Row({ issued, used, teams, onEdit, onRevoke }: RowProps) {
  return (
    <tr>
      <th scope="row" data-label="Key">
        <span class="key-name">{issued.name}</span>
        <span class="mono dim">sk-gw-…{issued.last4}</span>
        {issued.team !== null && (
          <Link to="/teams" class="key-note">
            {`Team ${teams?.get(issued.team) ?? issued.team}`}
          </Link>
        )}
        {issued.note && <span class="dim key-note">{issued.note}</span>}
      </th>
      <td data-label="State">
        <KeyState issued={issued} />
      </td>
      <td data-label="Limits">
        <Limits issued={issued} />
      </td>
      <td data-label="Last 30 days">
        <Used issued={issued} used={used} />
      </td>
      <td data-label="Last used">
        {issued.last_used_at ? <RelativeTime at={issued.last_used_at} /> : <span class="dim">never</span>}
      </td>
      <td class="row-actions">
        <Button
          small
          changes
          tone="quiet"
          icon="edit"
          label={`Edit ${issued.name}`}
          onClick={() => onEdit(issued)}
        />
        <Button
          small
          changes
          tone="quiet"
          icon={issued.revoked_at ? 'bin' : 'stop'}
          label={issued.revoked_at ? `Let ${issued.name} in again or delete it` : `Revoke ${issued.name}`}
          onClick={() => onRevoke(issued)}
        />
      </td>
    </tr>
  );
}

function KeyState({ issued }: { readonly issued: Key }) {
  const { expires_at: expires, revoked_at: revoked } = issued;
  const now = useNow();
  const isExpired = expires !== null && Date.parse(expires) <= now;
  if (revoked)
    return (
      <Badge tone="bad" icon="stop">
        Revoked
      </Badge>
    );
  if (isExpired)
    return (
      <Badge tone="warn" icon="wait">
        Expired
      </Badge>
    );
  return (
    <>
      <Badge tone="ok" icon="check">
        Active
      </Badge>
      {expires && (
        <span class="dim key-note">
          ends <Time at={expires} />
        </span>
      )}
    </>
  );
}

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

function Used({ issued, used }: Pick<RowProps, 'issued' | 'used'>) {
  if (!used) return <span class="dim">nothing</span>;
  return (
    <div class="used">
      <Sparkline values={used.days} />
      <Link to={`/requests?key=${encodeURIComponent(issued.id)}`} class="num">
        {count(used.requests)} requests
      </Link>
      <span class="dim num">{compact(used.tokens)} tokens</span>
    </div>
  );
}
