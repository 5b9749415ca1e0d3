import type { Static } from 'typebox';
import type { RequestDetail, RequestReport } from '../../../operator/request-report.js';
import type {
  Tokens as TokensReport,
  UsageBucket as UsageBucketReport,
  UsageGroup as UsageGroupName,
  UsageReport,
} from '../../../operator/schemas.js';
import { call, type ListPage, type Query } from './call.js';

export type Tokens = Static<typeof TokensReport>;
export type Usage = Omit<Static<typeof UsageReport>, 'object'>;
export type UsageBucket = Static<typeof UsageBucketReport>;
export type UsageGroup = Static<typeof UsageGroupName>;

/** A request in the list of all. */
export type LedgerRequest = Static<typeof RequestReport>;
/** A request with all of its data in the ledger. */
export type OpenedRequest = Static<typeof RequestDetail>;
/** Loss of cached tokens. */
export type CacheLoss = NonNullable<LedgerRequest['cache']>;

export const fetchUsage = (query: Query, signal?: AbortSignal) =>
  call<Usage>('GET', '/usage', { query, signal });
export const fetchRequests = (query: Query, signal?: AbortSignal) =>
  call<ListPage<LedgerRequest>>('GET', '/requests', { query, signal });
