import type { Static, TSchema } from 'typebox';
import { Type } from '../../plugin/index.js';
import type { SlotFailure, SlotStatus, Window } from '../../plugin/core.js';
import type { DiagnosisStep } from '../../plugin/upstream/index.js';
import { isoTime, named } from '../../operator/schemas.js';

const Time = Type.String({ format: 'date-time' });
const Count = Type.Integer({ minimum: 0 });
const Reason = Type.Enum(['rate_limited', 'overloaded', 'unreachable', 'window_exhausted']);
/** Schema of `failureReport`. */
const FailureReport = Type.Object({
  status: orNull(
    Type.Integer({ description: "HTTP status of the upstream's answer; null if there was none." }),
  ),
  code: Type.String(),
  message: Type.String({ description: 'Without credentials.' }),
  header: orNull(Type.String({ description: 'The header that gave the end, with its value.' })),
  at: Time,
});
const WindowReport = orNull(Type.Object({ percent_used: Type.Number(), resets_at: Time }));

/** Schema of `adminSlotReport`. */
export const AdminSlotReport = named(
  'Slot',
  Type.Object({
    id: Type.String(),
    upstream: Type.String(),
    account: Type.String(),
    state: Type.Enum(['ready', 'cooling', 'rejected', 'paused', 'draining']),
    reason: orNull(Reason),
    until: orNull(Time),
    check_at: orNull(
      Type.String({
        format: 'date-time',
        description: 'From then on one request at a time tries it anyway.',
      }),
    ),
    cause: orNull(FailureReport),
    cooling_models: Type.Array(
      Type.Object({
        model: Type.String(),
        reason: Reason,
        until: Time,
        check_at: Time,
        cause: orNull(FailureReport),
      }),
    ),
    in_flight: Count,
    queued: Count,
    max_concurrent: Count,
    weight: Type.Number(),
    models: Type.Array(Type.String()),
    upstream_models: Type.Record(Type.String(), Type.String(), {
      description: "The upstream's own names, for models that have one.",
    }),
    bindings: Type.Integer({ minimum: 0, description: 'Sessions that are bound to it.' }),
    windows: Type.Object({ '5h': WindowReport, '7d': WindowReport }),
    last_error: orNull(Type.String({ description: 'The last failure since the slot last worked.' })),
    last_error_at: orNull(Time),
  }),
);

function orNull<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

/** State of a slot as sent by `/admin/slots`: snake case, times in ISO 8601. */
export function adminSlotReport(slot: SlotStatus): Static<typeof AdminSlotReport> {
  return {
    id: slot.id,
    upstream: slot.upstream,
    account: slot.accountKind,
    state: slot.state,
    reason: slot.reason,
    until: isoTime(slot.untilMs),
    check_at: isoTime(slot.checkAtMs),
    cause: failureReport(slot.cause),
    cooling_models: slot.models.map(({ model, reason, untilMs, checkAtMs, cause }) => ({
      model,
      reason,
      until: new Date(untilMs).toISOString(),
      check_at: new Date(checkAtMs).toISOString(),
      cause: failureReport(cause),
    })),
    in_flight: slot.inFlight,
    queued: slot.queued,
    max_concurrent: slot.maxConcurrent,
    weight: slot.weight,
    models: [...slot.serves],
    upstream_models: { ...slot.upstreamModels },
    bindings: slot.bindings,
    windows: { '5h': windowReport(slot.windows['5h']), '7d': windowReport(slot.windows['7d']) },
    last_error: slot.lastError,
    last_error_at: isoTime(slot.lastErrorAtMs),
  };
}

function failureReport(failure: SlotFailure | null): Static<typeof FailureReport> | null {
  if (!failure) return null;
  const { status, code, message, header, atMs } = failure;
  return { status, code, message, header, at: new Date(atMs).toISOString() };
}

function windowReport(window: Window | null): Static<typeof WindowReport> {
  return window && { percent_used: window.percentUsed, resets_at: new Date(window.resetsAtMs).toISOString() };
}

/** Diagnosis of a slot as sent by `/admin` and the console API. */
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
      detail: Type.String({ description: 'The result, or the error message.' }),
    }),
  ),
});

/** Builds the report on slot `id` from its diagnosis steps. */
export function diagnosisReport(id: string, steps: readonly DiagnosisStep[]): Static<typeof DiagnosisReport> {
  return { slot: id, ok: steps.every(({ ok }) => ok), steps: [...steps] };
}
