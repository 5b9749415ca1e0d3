import type { Explanation, SkipReason } from './explanation.js';

/** Reason why a request has skipped a stage. */
export function skipWords(reason: SkipReason): string {
  if (reason.kind === 'when') return `skipped, not met: ${reason.conditions.join(', ')}`;
  if (reason.kind === 'alternative') return `not taken, ${reason.taken} was`;
  if (reason.kind === 'error') return `failed and was skipped: ${reason.error.message || reason.error.code}`;
  if (reason.kind === 'operation') return `not for ${reason.operation} requests`;
  return reason.kind === 'disabled' ? 'switched off' : 'not reached';
}

/** Title of the stages of an explanation, with their pipeline and the reason for it unless no other one was chosen. */
export function stagesTitle({ pipeline: { name, why } }: Pick<Explanation, 'pipeline'>): string {
  return why === 'default' ? 'Stages' : `Stages of the pipeline ${name}, ${reasonWords[why]}`;
}

const reasonWords = {
  key: 'which the key names',
  team: 'which the team of the key names',
  when: 'whose conditions hold',
} as const;
