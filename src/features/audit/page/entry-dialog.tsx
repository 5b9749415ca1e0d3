import type { ConfigDiff } from '../../../config/diff/config-diff.js';
import { Dialog } from '../../../console/web/ui/dialog/dialog.js';
import { Facts } from '../../../console/web/ui/facts.js';
import { Link } from '../../../console/web/ui/link.js';
import { Time } from '../../../console/web/ui/time.js';
import { Changes, hasChanges, Settings } from '../../../console/web/ui/config-changes.js';
import type { AuditEntry } from './api.js';
import { kindOf, targetOf, diffOf, Outcome } from './audit-columns.js';

interface EntryDialogProps {
  readonly entry: AuditEntry;
  readonly onClose: () => void;
}

/** An entry with its changes. */
export function EntryDialog({ entry, onClose }: EntryDialogProps) {
  const name = targetOf(entry);
  return (
    <Dialog title={name === null ? entry.action : `${entry.action} ${name}`} wide onClose={onClose}>
      <div class="dialog-body">
        <Facts facts={factsOf(entry)} />
        <Change entry={entry} />
      </div>
    </Dialog>
  );
}

function factsOf(entry: AuditEntry) {
  const { actor, at, target, address, request_id: requestId } = entry;
  const optional = [
    { name: 'Target', value: target && <Target id={target} /> },
    { name: 'Address', value: address && <span class="mono wrap">{address}</span> },
    { name: 'Request id', value: requestId && <span class="mono wrap">{requestId}</span> },
  ];
  return [
    { name: 'Outcome', value: <Outcome entry={entry} /> },
    { name: 'Who', value: `${actor.name}, ${kindOf(entry)}` },
    { name: 'When', value: <Time at={at} long /> },
    ...optional.filter(({ value }) => value),
  ];
}

function Target({ id }: { readonly id: string }) {
  return (
    <Link to={`/audit?target=${encodeURIComponent(id)}`} class="mono wrap">
      {id}
    </Link>
  );
}

function Change({ entry: { before, after } }: { readonly entry: AuditEntry }) {
  const { changes: config, ...rest } = Object(after) as { readonly changes?: unknown }; // of any object, or nothing
  const isReload = isConfigDiff(config);
  const changes = diffOf(before, isReload ? rest : after).filter(({ path }) => path !== 'status');
  return (
    <div class="changes">
      {changes.length > 0 && <Settings settings={changes} />}
      {isReload && hasChanges(config) && <Changes changes={config} />}
      {isReload && !hasChanges(config) && <p class="dim">The config had not changed.</p>}
    </div>
  );
}

/** True for the difference of a reload, unless it was too long for the log. */
function isConfigDiff(value: unknown): value is ConfigDiff {
  const parts = Object(value) as Readonly<Record<string, unknown>>; // of any object, or nothing
  return ['stages', 'formats', 'slots', 'models', 'settings'].every((part) => {
    const list = parts[part];
    return Array.isArray(list) && list.every((item) => typeof item === 'object');
  });
}
