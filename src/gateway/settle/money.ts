import { costOf, exactCost, roundedCost } from '../../state/ledger/cost.js';
import { additionsByStage, lessTokens } from '../../state/ledger/additions.js';
import {
  ledgerTokens,
  totalTokens,
  type MessagesRequest,
  type Trace,
  type Usage,
} from '../../plugin/index.js';
import type { Price, TraceCost, LedgerTokens } from '../../plugin/core.js';
import type { LedgerAddition, LedgerCost } from '../../state/ledger/contract.js';
import type { RequestTrace } from '../../engine/trace/request-trace.js';
import type { Writable } from '../../kit/writable.js';
import type { RequestRecord } from './request-record.js';

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

/** Upstream call with its cost, in pico-USD. */
export interface PaidCall {
  readonly slot: string;
  readonly model: string;
  readonly cost: number;
}

/** Price of a model at a slot; undefined: unknown. */
export type PriceOf = (slot: string, model: string) => Price | undefined;

/**
 * Tokens and cost of a request whose response has closed. Each call costs by its own slot and model; the cost is
 * unknown if one has answered without a price, or without its usage.
 */
export function requestMoney(
  { added: { tokens: added } }: Pick<Trace, 'added'>,
  record: Pick<RequestRecord, 'billed' | 'masked' | 'calls' | 'slot' | 'model' | 'answeredBy'>,
  priceOf: PriceOf,
): RequestMoney {
  const { billed, shown } = ledgerTokens(record);
  const calls = billedCalls(record, { usage: record.billed, tokens: billed });
  const answered = calls.filter(({ tokens }) => tokens);
  const last = answered.at(-1);
  const price = last && priceOf(last.slot, last.model);
  const paid = paidCalls(calls, priceOf);
  const money: Writable<RequestMoney> = { billed, shown, paid };
  const cost = paid.length === calls.length ? costFrom(paid, { billed, shown }, price) : undefined;
  if (cost) money.cost = cost;
  const additions = added && additionsByStage({ billed, shown }, added, answered.length);
  if (additions) money.additions = priced(additions, price);
  return money;
}

/** Cost of the upstream calls of a request so far, as the ledger will sum them. */
export function costSoFar({ trace, request }: CostState, priceOf: PriceOf): TraceCost {
  const { calls, usage, askedModel, slot } = trace;
  const all = { usage: usage.billed, tokens: billedTokens(usage.billed) };
  const billed = billedCalls({ calls, slot, model: askedModel ?? request?.model }, all);
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
  const paid: PaidCall[] = [];
  for (const { slot, model, tokens } of calls) {
    const price = tokens && priceOf(slot, model);
    const cost = price && exactCost(tokens, price);
    if (cost !== undefined) paid.push({ slot, model, cost });
  }
  return paid;
}

type CalledModel = Pick<RequestRecord, 'calls' | 'slot' | 'model'> &
  Partial<Pick<RequestRecord, 'answeredBy'>>;

interface BilledCall {
  readonly slot: string;
  readonly model: string;
  /** Undefined: not reported. */
  readonly tokens: LedgerTokens | undefined;
}

/** Usage of all calls, with its tokens. */
interface BilledUsage {
  readonly usage: Usage;
  readonly tokens: LedgerTokens;
}

/** Calls that may have a cost: excludes failed ones without a report. */
function billedCalls(
  { calls, slot = '', model = '', answeredBy = model }: CalledModel,
  all: BilledUsage,
): readonly BilledCall[] {
  const own: BilledCall[] = [];
  let isReported = totalTokens(all.tokens) === 0;
  for (const { slot: called, model: named = model, billed, code } of calls) {
    if (!billed && code !== undefined) continue;
    const tokens = billed === all.usage ? all.tokens : billed && billedTokens(billed);
    own.push({ slot: called, model: named, tokens });
    isReported ||= billed !== undefined;
  }
  return isReported ? own : [{ slot, model: answeredBy, tokens: all.tokens }]; // billed by a stage of its own
}

/** Cost of all calls; the tokens hidden from the caller are part of the last one. */
function costFrom(
  paid: readonly PaidCall[],
  { billed, shown }: Pick<RequestMoney, 'billed' | 'shown'>,
  price: Price | undefined,
): LedgerCost | undefined {
  const exact = sumOf(paid);
  const hidden = price ? exactCost(lessTokens(billed, shown), price) : 0;
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
