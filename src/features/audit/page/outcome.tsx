import { Badge, type BadgeProps } from '../../../console/web/ui/badge.js';
import type { AuditEntry } from './api.js';

const looks: Readonly<Record<AuditEntry['outcome'], Pick<BadgeProps, 'tone' | 'icon'>>> = {
  done: { tone: 'ok', icon: 'check' },
  refused: { tone: 'warn', icon: 'stop' },
  failed: { tone: 'bad', icon: 'warn' },
};

/** Result of an action, with its error code. */
export function Outcome({ entry: { outcome, code } }: { readonly entry: AuditEntry }) {
  return <Badge {...looks[outcome]}>{code ?? outcome}</Badge>;
}
