import type { Static } from 'typebox';
import { Type } from '../../plugin/index.js';
import type { AuditEntry } from '../../state/store/contract/audit.js';
import type { Column } from '../../operator/csv.js';
import { IsoTime, isoTime, Nullable } from '../../operator/schemas.js';

export const auditOutcomes = ['done', 'refused', 'failed'] as const;

const Anything = Type.Unknown({ description: 'State without secrets; null: none.' });

/** An entry of the audit log as sent by the console API. */
export const AuditReport = Type.Object({
  id: Type.String(),
  at: IsoTime,
  actor: Type.Object({
    kind: Type.Enum(['master', 'password', 'oidc', 'token', 'system', 'cli', 'anonymous']),
    name: Type.String(),
  }),
  action: Type.String({ description: 'Subject and verb: `key.create`.' }),
  target: Nullable(Type.String({ description: 'Id of the key, slot or token acted on.' })),
  outcome: Type.Enum([...auditOutcomes]),
  code: Nullable(Type.String({ description: 'Error code of an action that was not done.' })),
  before: Anything,
  after: Anything,
  address: Nullable(Type.String()),
  request_id: Nullable(Type.String()),
});

export function auditReport(entry: AuditEntry): Static<typeof AuditReport> {
  return {
    id: entry.id,
    at: isoTime(entry.atMs) ?? '',
    actor: entry.actor,
    action: entry.action,
    target: entry.target ?? null,
    outcome: entry.outcome,
    code: entry.code ?? null,
    before: entry.before ?? null,
    after: entry.after ?? null,
    address: entry.address ?? null,
    request_id: entry.requestId ?? null,
  };
}

const columns = [
  'at',
  'actor_kind',
  'actor',
  'action',
  'target',
  'outcome',
  'code',
  'before',
  'after',
  'address',
  'request_id',
  'id',
] as const;

/** Columns of the log as CSV. */
export const auditColumns: readonly Column[] = columns.map((name) => [name]);

/** An entry as a row of CSV. */
export function auditRow(entry: AuditEntry): object {
  const { actor, before, after, ...rest } = auditReport(entry);
  return { ...rest, actor_kind: actor.kind, actor: actor.name, before: jsonOf(before), after: jsonOf(after) };
}

function jsonOf(value: unknown): string {
  return value === null ? '' : JSON.stringify(value);
}
