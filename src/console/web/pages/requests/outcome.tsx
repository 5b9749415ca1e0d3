import type { LedgerRequest } from '../../api/types.js';
import { Badge } from '../../ui/badge.js';

/** How a request ended: its status with a shape, and the code where it has one. */
export function Outcome({ row }: { readonly row: Pick<LedgerRequest, 'status' | 'code' | 'failed'> }) {
  const { status, code, failed } = row;
  if (status >= 500 || (failed && status < 400))
    return (
      <Badge tone="bad" icon="stop">
        {status} {code ?? 'failed'}
      </Badge>
    );
  if (status >= 400)
    return (
      <Badge tone="warn" icon="warn">
        {status} {code ?? (status === 499 ? 'caller left' : 'refused')}
      </Badge>
    );
  return (
    <Badge tone="ok" icon="check">
      {status}
    </Badge>
  );
}
