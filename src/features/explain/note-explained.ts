import type { GivenRequest } from '../../operator/given-request.js';
import type { AuditedAction } from '../../state/audit/audited-action.js';

/** Has the audit log say which request is explained: for which key, and its path. */
export function noteExplained(call: GivenRequest, audit: AuditedAction): GivenRequest {
  const [path = ''] = call.path.split('?', 1); // a query may hold a credential
  audit.note({ key: call.as, path });
  return call;
}
