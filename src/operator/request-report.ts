import type { Static } from 'typebox';
import { Type } from '../plugin/index.js';
import type { LedgerRow, LedgerRowKey } from '../state/ledger/contract.js';
import { nanoUsd, tokensReport } from './ledger-report.js';
import { requestFields, shownOf, type NameOf } from './request-fields.js';
import { IsoTime, named, Nullable, Tokens } from './schemas.js';

/** A row of the ledger. */
export const RequestReport = Type.Object(requestFields);

/** A row of the ledger as it may appear in an export. */
export const ExportedRequest = named(
  'Request',
  Type.Object({
    ...requestFields,
    error_text: Type.Optional(
      Nullable(Type.String({ description: 'With `error_texts`; null: none is kept.' })),
    ),
  }),
);

/** Error text of a failed request, with secrets masked. */
export const ErrorText = Type.Object(
  {
    state: Type.Enum(['kept', 'off', 'expired', 'none'], {
      description: 'off: `ledger.errorTexts` is off; expired: it is no longer kept; none: no text is known.',
    }),
    text: Nullable(Type.String({ description: 'The first 300 characters, on one line.' })),
    calls: Type.Array(Type.Object({ call: Type.Integer({ minimum: 1 }), text: Type.String() }), {
      description: 'Failed upstream calls, by their place in `calls`; the last five.',
    }),
    until: Nullable(IsoTime),
  },
  { description: 'For admins only; null for a request that did not fail.' },
);

export const RequestDetail = named(
  'RequestDetail',
  Type.Object({
    ...requestFields,
    answered_by: Nullable(Type.String({ description: 'The model that answered, if it differs.' })),
    additions: Type.Array(
      Type.Object(
        { stage: Type.String(), tokens: Tokens, cost_usd: Nullable(Type.Number()) },
        { description: 'Tokens that a stage has added to the request.' },
      ),
    ),
    stages: Type.Array(
      Type.Object({
        stage: Type.String(),
        ms: Type.Number(),
        skipped: Type.Boolean({ description: 'It failed, and the request continued without it.' }),
      }),
    ),
    calls: Type.Array(
      Type.Object({
        slot: Type.String(),
        model: Nullable(Type.String({ description: 'Set if it differs from the requested one.' })),
        ms: Type.Number(),
        code: Nullable(Type.String()),
      }),
    ),
    error_text: Type.Optional(Nullable(ErrorText)),
  }),
);

/** A row of the ledger as sent by the panel API. */
export function requestReport(row: LedgerRow, nameOf: NameOf): Static<typeof RequestReport> {
  return shownOf(row, nameOf) as Static<typeof RequestReport>; // of the same fields
}

/** A row of the ledger with the times of its stages and its upstream calls. */
export function requestDetail(row: LedgerRow, nameOf: NameOf): Static<typeof RequestDetail> {
  const { stages = [], calls = [], answeredBy = null } = row.trace ?? {};
  return {
    ...requestReport(row, nameOf),
    answered_by: answeredBy,
    additions: Object.entries(row.additions ?? {}).map(([stage, { tokens, cost }]) => ({
      stage,
      tokens: tokensReport(tokens),
      cost_usd: cost === undefined ? null : cost / nanoUsd,
    })),
    stages: stages.map(({ stage, ms, skipped = false }) => ({ stage, ms, skipped })),
    calls: calls.map(({ slot, model = null, ms, code = null }) => ({ slot, model, ms, code })),
  };
}

/** Time and id of the row that a report's `id` stands for; the ledger needs the time to find it. */
export function rowOf(reportId: string): LedgerRowKey | undefined {
  const [, at, id] = /^(\d{1,15})\.(.{1,100})$/.exec(reportId) ?? [];
  return at === undefined || id === undefined ? undefined : { atMs: Number(at), id };
}
