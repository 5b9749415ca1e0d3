import { Link } from '../../../console/web/ui/link.js';
import type { Column } from '../../../console/web/ui/table/column.js';
import { Time } from '../../../console/web/ui/time.js';
import type { AuditEntry } from './api.js';
import { Badge, type BadgeProps } from '../../../console/web/ui/badge.js';
import type { SettingChange } from '../../../config/diff/config-diff.js';

const actors: Readonly<Record<AuditEntry['actor']['kind'], string>> = {
  master: 'master key',
  password: 'console password',
  oidc: 'signed in',
  token: 'admin token',
  system: 'gateway',
  cli: 'command line',
  anonymous: 'not signed in',
};

/** Kind of an actor in words. */
export function kindOf({ actor }: AuditEntry): string {
  return actors[actor.kind];
}

/** Name of the target at the time of the change, else its id. */
export function targetOf({ target, before, after }: AuditEntry): string | null {
  const { name } = { ...Object(before), ...Object(after) } as { readonly name?: unknown }; // of any object, or nothing
  return typeof name === 'string' ? name : target;
}

/** Columns of the audit log. `open` shows an entry. */
export function auditColumns(open: (entry: AuditEntry) => void): readonly Column<AuditEntry>[] {
  return [
    {
      id: 'time',
      head: 'Time',
      cell: (entry) => (
        <button type="button" class="row-link audit-open" onClick={() => open(entry)}>
          <Time at={entry.at} />
        </button>
      ),
    },
    {
      id: 'who',
      head: 'Who',
      class: 'audit-who',
      cell: (entry) => (
        <>
          <span class="wrap">{entry.actor.name}</span> <span class="dim audit-kind">{kindOf(entry)}</span>
        </>
      ),
    },
    { id: 'action', head: 'Action', class: 'mono', cell: ({ action }) => action },
    { id: 'target', head: 'Target', cell: (entry) => <Target entry={entry} /> },
    { id: 'outcome', head: 'Outcome', cell: (entry) => <Outcome entry={entry} /> },
    { id: 'change', head: 'Change', cell: (entry) => <ChangeInShort entry={entry} /> },
  ];
}

function Target({ entry }: { readonly entry: AuditEntry }) {
  const text = targetOf(entry);
  if (text === null) return <span class="dim">–</span>;
  const { target } = entry;
  if (target === null) return <span class="wrap">{text}</span>;
  return (
    <Link
      to={`/audit?target=${encodeURIComponent(target)}`}
      class="wrap"
      title={`Everything about ${target}`}
    >
      {text}
    </Link>
  );
}

function ChangeInShort({ entry: { before, after } }: { readonly entry: AuditEntry }) {
  if (before === null && after === null) return <span class="dim">–</span>;
  const changed = diffOf(before, after).map(({ path }) => path);
  const names = [...new Set(changed.map((path) => path.replace(/\..*$/s, '')))];
  const shown = names.slice(0, 3).join(', ');
  return (
    <span class="dim wrap">
      {shown}
      {names.length > 3 && ` and ${names.length - 3} more`}
    </span>
  );
}

const looks: Readonly<Record<AuditEntry['outcome'], Pick<BadgeProps, 'tone' | 'icon'>>> = {
  done: { tone: 'ok', icon: 'check' },
  refused: { tone: 'warn', icon: 'stop' },
  failed: { tone: 'bad', icon: 'warn' },
};

/** Result of an action, with its error code. */
export function Outcome({ entry: { outcome, code } }: { readonly entry: AuditEntry }) {
  return <Badge {...looks[outcome]}>{code ?? outcome}</Badge>;
}

/** Fields that differ between two values, each by its path; one-sided if there was nothing before or after. */
export function diffOf(before: unknown, after: unknown, path = ''): readonly SettingChange[] {
  if (isObject(before) && isObject(after)) return diffOfFields(before, after, path);
  if (path === '' && (isObject(before) || isObject(after)))
    return diffOfFields(isObject(before) ? before : {}, isObject(after) ? after : {}, path);
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (isNothing(before)) return [{ path, change: 'added', after }];
  if (isNothing(after)) return [{ path, change: 'removed', before }];
  return [{ path, change: 'changed', before, after }];
}

type JsonObject = Readonly<Record<string, unknown>>;

function diffOfFields(before: JsonObject, after: JsonObject, path: string): readonly SettingChange[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => diffOf(before[key], after[key], path === '' ? key : `${path}.${key}`));
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
