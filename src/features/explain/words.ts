import type { SkipReason } from './explanation.js';

/** Reason why a request has skipped a stage. */
export function skipWords(reason: SkipReason): string {
  if (reason.kind === 'when') return `skipped, not met: ${reason.conditions.join(', ')}`;
  if (reason.kind === 'alternative') return `not taken, ${reason.taken} was`;
  if (reason.kind === 'error') return `failed and was skipped: ${reason.error.message || reason.error.code}`;
  if (reason.kind === 'operation') return `not for ${reason.operation} requests`;
  return reason.kind === 'disabled' ? 'switched off' : 'not reached';
}
