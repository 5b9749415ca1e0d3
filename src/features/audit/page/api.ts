import type { Static } from 'typebox';
import { call, type ListPage, type Query } from '../../../console/web/api/call.js';
import type { AuditReport } from '../audit-report.js';

export type AuditEntry = Static<typeof AuditReport>;

export const fetchAudit = (query: Query, signal?: AbortSignal) =>
  call<ListPage<AuditEntry>>('GET', '/audit', { query, signal });
