import type { Static } from 'typebox';
import { Type, type DiagnosisStep } from '../plugin/index.js';

/** Diagnosis of a slot as sent by `/admin` and the panel API. */
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

/** Builds the report on slot `id` from its diagnosis steps. */
export function diagnosisReport(id: string, steps: readonly DiagnosisStep[]): Static<typeof DiagnosisReport> {
  return { slot: id, ok: steps.every(({ ok }) => ok), steps: [...steps] };
}
