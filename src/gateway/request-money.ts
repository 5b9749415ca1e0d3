import { costOf, exactCost, roundedCost } from '../ledger/cost.js';
import { additionsByStage } from '../ledger/additions.js';
import {
  ledgerTokens,
  totalTokens,
  type LedgerAddition,
  type LedgerCost,
  type LedgerTokens,
  type MessagesRequest,
  type Price,
  type RequestTrace,
  type Trace,
  type TraceCost,
  type Usage,
} from '../plugin/internal.js';
import type { RequestRecord } from '../telemetry/request-record.js';

/** Tokens of a request, with their cost as far as it is known. */
export interface RequestMoney {
  readonly billed: LedgerTokens;
  readonly shown: LedgerTokens;
  /** Undefined: unknown. */
  readonly cost?: LedgerCost;
  /** Tokens that stages added, by the stage's name. */
  readonly additions?: Readonly<Record<string, LedgerAddition>>;
  /** Calls with a known cost. */
  readonly paid: readonly PaidCall[];
}

/** Upstream call with what it cost, in pico-USD. */
export interface PaidCall {
  readonly slot: string;
  readonly model: string;
  readonly cost: number;
}

/** Price of a model at a slot; undefined: unknown. */
export type PriceOf = (slot: string, model: string) => Price | undefined;

/**
 * Tokens and cost of a request whose response has closed. Each call costs by its own slot and model; the cost is
 * unknown where one has answered without a price, or without its usage.
 */
export function requestMoney(
  { added: { tokens: added } }: Pick<Trace, 'added'>,
  record: Pick<RequestRecord, 'billed' | 'masked' | 'calls' | 'slot' | 'model' | 'answeredBy'>,
  priceOf: PriceOf,
): RequestMoney {
  const { billed, shown } = ledgerTokens(record);
  const calls = billedCalls(record, billed);
  const last = calls.findLast(({ tokens }) => tokens);
  const price = last && priceOf(last.slot, last.model);
  const paid = paidCalls(calls, priceOf);
  const cost = paid.length === calls.length ? costFrom(paid, { billed, shown }, price) : undefined;
  const answers = calls.filter(({ tokens }) => tokens).length;
  const additions = added && additionsByStage({ billed, shown }, added, answers);
  return {
    billed,
    shown,
    paid,
    ...(cost && { cost }),
    ...(additions && { additions: priced(additions, price) }),
  };
}

/** Cost of the upstream calls of a request so far, as the ledger will sum them. */
export function costSoFar({ trace, request }: CostState, priceOf: PriceOf): TraceCost {
  const { calls, usage, askedModel, slot } = trace;
  const billed = billedCalls(
    { calls, slot, model: askedModel ?? request?.model },
    billedTokens(usage.billed),
  );
  const paid = paidCalls(billed, priceOf);
  return { billed: roundedCost(sumOf(paid)), isComplete: paid.length === billed.length };
}

interface CostState {
  readonly trace: Pick<RequestTrace, 'calls' | 'usage' | 'askedModel' | 'slot'>;
  readonly request?: Pick<MessagesRequest, 'model'>;
}

function sumOf(paid: readonly PaidCall[]): number {
  return paid.reduce((sum, { cost }) => sum + cost, 0);
}

function billedTokens(usage: Usage): LedgerTokens {
  return ledgerTokens({ billed: usage, masked: {} }).billed;
}

function paidCalls(calls: readonly BilledCall[], priceOf: PriceOf): readonly PaidCall[] {
  return calls.flatMap(({ slot, model, tokens }) => {
    const price = tokens && priceOf(slot, model);
    const cost = price && exactCost(tokens, price);
    return cost === undefined ? [] : [{ slot, model, cost }];
  });
}

type CalledModel = Pick<RequestRecord, 'calls' | 'slot' | 'model'> &
  Partial<Pick<RequestRecord, 'answeredBy'>>;

interface BilledCall {
  readonly slot: string;
  readonly model: string;
  /** Undefined: not reported. */
  readonly tokens: LedgerTokens | undefined;
}

/** Calls that have cost something, or may have: a failed one without a report has not. */
function billedCalls(
  { calls, slot = '', model = '', answeredBy = model }: CalledModel,
  billed: LedgerTokens,
): readonly BilledCall[] {
  const own = calls
    .filter((call) => call.billed ?? call.code === undefined)
    .map((call) => ({
      slot: call.slot,
      model: call.model ?? model,
      tokens: call.billed && billedTokens(call.billed),
    }));
  const isReported = own.some(({ tokens }) => tokens) || totalTokens(billed) === 0;
  return isReported ? own : [{ slot, model: answeredBy, tokens: billed }]; // billed by a stage of its own
}

/** Cost of all calls; the tokens hidden from the caller are part of the last one. */
function costFrom(
  paid: readonly PaidCall[],
  { billed, shown }: Pick<RequestMoney, 'billed' | 'shown'>,
  price: Price | undefined,
): LedgerCost | undefined {
  const exact = sumOf(paid);
  const hidden = price ? exactCost(less(billed, shown), price) : 0;
  if (hidden === undefined) return undefined;
  return { billed: roundedCost(exact), shown: roundedCost(Math.max(0, exact - hidden)) };
}

function priced(
  additions: Readonly<Record<string, LedgerTokens>>,
  price: Price | undefined,
): Readonly<Record<string, LedgerAddition>> {
  const entries = Object.entries(additions).map(([stage, tokens]) => {
    const cost = price && costOf(tokens, price);
    return [stage, cost === undefined ? { tokens } : { tokens, cost }];
  });
  return Object.fromEntries(entries);
}

function less(all: LedgerTokens, part: LedgerTokens): LedgerTokens {
  return {
    input: all.input - part.input,
    cacheRead: all.cacheRead - part.cacheRead,
    cacheWrite5m: all.cacheWrite5m - part.cacheWrite5m,
    cacheWrite1h: all.cacheWrite1h - part.cacheWrite1h,
    output: all.output - part.output,
  };
}
