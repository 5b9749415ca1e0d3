import type { LedgerRequest } from '../../../console/web/api/ledger.js';
import { Badge, type BadgeProps } from '../../../console/web/ui/badge.js';

/** Outcome of a request: its status with a shape, and its error code if it has one. */
export function Outcome({ row }: { readonly row: Pick<LedgerRequest, 'status' | 'code' | 'failed'> }) {
  const { status, code, failed } = row;
  if (status >= 500 || (failed && status < 400))
    return <Failure tone="bad" icon="stop" text={`${status} ${code ?? 'failed'}`} />;
  if (status >= 400) {
    const words = code ?? (status === 499 ? 'caller left' : 'refused');
    return <Failure tone="warn" icon="warn" text={`${status} ${words}`} />;
  }
  return (
    <Badge tone="ok" icon="check">
      {status}
    </Badge>
  );
}

function Failure({ text, ...look }: Pick<BadgeProps, 'tone' | 'icon'> & { readonly text: string }) {
  return (
    <Badge {...look} title={text}>
      {text}
    </Badge>
  );
}
