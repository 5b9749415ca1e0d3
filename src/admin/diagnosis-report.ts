import type { Static } from 'typebox';
import { Type, type DiagnosisStep } from '../plugin/index.js';

/** A diagnosis as `/admin` and the panel show it. */
export const DiagnosisReport = Type.Object({
  slot: Type.String(),
  ok: Type.Boolean({ description: 'Whether no step failed.' }),
  steps: Type.Array(
    Type.Object({
      step: Type.Enum(['resolve', 'connect', 'request', 'credential']),
      ok: Type.Boolean(),
      skipped: Type.Optional(
        Type.Boolean({ description: 'The step could not be tried: `ok` proves nothing.' }),
      ),
      ms: Type.Number(),
      detail: Type.String({ description: 'The finding, or the failure.' }),
    }),
  ),
});

/** Makes the report on the slot `id` from the steps taken. */
export function diagnosisReport(id: string, steps: readonly DiagnosisStep[]): Static<typeof DiagnosisReport> {
  return { slot: id, ok: steps.every(({ ok }) => ok), steps: [...steps] };
}
