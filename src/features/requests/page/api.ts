import { call, pathOf } from '../../../console/web/api/call.js';
import type { OpenedRequest } from '../../../console/web/api/ledger.js';

/** Error text of a failed request. */
export type ErrorText = NonNullable<OpenedRequest['error_text']>;

export const fetchRequest = (id: string, signal?: AbortSignal) =>
  call<OpenedRequest>('GET', pathOf('/requests', id), { signal });
