import type { Static } from 'typebox';
import { Closed } from '../kit/schema/type.js';
import { Time, timeMs } from '../kit/schema/units.js';
import { Type } from '../plugin/index.js';
import type { LedgerFilter } from '../plugin/core.js';
import { cacheCauses } from '../state/ledger/row/composed-fields.js';
import { invalid } from './check.js';
import type { Gateway } from '../gateway/gateway.js';
import { FormatName, Line } from './schemas.js';

/** Query parameters that choose among the requests of the ledger; each one given must match. */
export const filterFields = {
  key: Type.Optional(Line),
  team: Type.Optional(Line),
  slot: Type.Optional(Line),
  model: Type.Optional(Line),
  format: Type.Optional(FormatName),
  pipeline: Type.Optional(Line),
  parent: Type.Optional(Line),
  label: Type.Optional(Line),
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
  code: Type.Optional(Line),
  failed: Type.Optional(Type.Boolean()),
  session: Type.Optional(Line),
  cause: Type.Optional(Type.Enum([...cacheCauses])),
  request_id: Type.Optional(Line),
};

const Filters = Closed(filterFields);

type Condition = Omit<LedgerFilter, 'fromMs' | 'toMs'>;

/** Filter of the ledger. Throws `invalid_request` for an unknown format. */
export function toCondition(
  { key, request_id: requestId, ...rest }: Static<typeof Filters>,
  { runtime: { formats } }: Gateway,
): Condition {
  if (rest.format !== undefined && !formats.some(({ name }) => name === rest.format)) {
    const known = formats.map(({ name }) => JSON.stringify(name)).join(', ');
    throw invalid([`format: must be one of ${known}, not ${JSON.stringify(rest.format)}`]);
  }
  return {
    ...rest,
    ...(key !== undefined && { keyId: key }),
    ...(requestId !== undefined && { requestId }),
  };
}

/** Filter fields with a range of time. */
export const rangeFields = { from: Type.Optional(Time()), to: Type.Optional(Time()), ...filterFields };

const RangeFilters = Closed(rangeFields);

export function toFilter({ from, to, ...rest }: Static<typeof RangeFilters>, gateway: Gateway): LedgerFilter {
  return {
    ...toCondition(rest, gateway),
    ...(from !== undefined && { fromMs: timeMs(from) }),
    ...(to !== undefined && { toMs: timeMs(to) }),
  };
}
