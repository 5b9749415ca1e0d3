import type { Context } from 'koa';
import { fakeHost, ManualClock } from '@gw2api/gateway/testing';
import upstreamCall from '#plugins/upstream-call.js';
import type { CooldownPolicy } from '#src/config/config.js';
import { EventStream, ModelEvent, type GatewayState } from '#src/plugin/index.js';
import type { UpstreamReply } from '#src/plugin/upstream/index.js';
import { noInterceptors } from '#src/plugin/stage/interceptors.js';
import { RequestTrace } from '#src/engine/trace/request-trace.js';
import { sleep } from '#src/kit/time/clock.js';
import { builtinPolicies } from '#src/engine/slots/selection/policies.js';
import { openPool, refusal, settled, slotConfig, type Kit } from './kit.js';

export interface SimulationTerms {
  readonly durationMs: number;
  readonly requestsPerSecond: number;
  /** Length of an overload of one slot. */
  readonly overloadMs: number;
  /** Mean time between two overloads of one slot. */
  readonly betweenOverloadsMs: number;
  readonly cooldown: CooldownPolicy;
  /** Permits of each slot; a request holds one for some five seconds. */
  readonly maxConcurrent: number;
  /** Quota of these slots is used up; they say that it comes back in five days. */
  readonly usedUp?: { readonly slots: readonly string[]; readonly fromMs: number; readonly untilMs: number };
}

export interface Simulated {
  readonly requests: number;
  readonly failed: number;
  /** Upstream calls that were refused. */
  readonly refused: number;
  /** Time from the end of `usedUp` to the first answer of each slot. */
  readonly backAfterMs: readonly number[];
}

const ids = ['a', 'b', 'c', 'd'];
const firstTokenMs = 1000;
const answerMs = 5000;
const refusalMs = 150;

/** Sends requests through upstream-call and a pool of four slots, in virtual time. */
export async function simulate(terms: SimulationTerms): Promise<Simulated> {
  const clock = new ManualClock();
  const { cooldown, maxConcurrent } = terms;
  const kit = await openPool(
    ids.map((id) => slotConfig(id, { maxConcurrent, cooldown })),
    { clock },
  );
  const upstreams = new SimulatedUpstreams(terms, clock);
  for (const id of ids) kit.upstream(id).generate = () => upstreams.answer(id);
  const send = sender(kit);
  const random = seeded(7);
  const startMs = clock.now();
  const results: Promise<boolean>[] = [];
  for (let atMs = 0; atMs < terms.durationMs; atMs += exponential(random, 1000 / terms.requestsPerSecond)) {
    await passTo(clock, startMs + atMs);
    results.push(send());
  }
  await passTo(clock, clock.now() + 60_000);
  const failed = (await Promise.all(results)).filter((isAnswered) => !isAnswered).length;
  await kit.pool.close();
  return { requests: results.length, failed, refused: upstreams.refused, backAfterMs: upstreams.backAfterMs };
}

/** Overloads and quotas of the slots, drawn before the start. */
class SimulatedUpstreams {
  readonly #terms: SimulationTerms;
  readonly #clock: ManualClock;
  readonly #startMs: number;
  readonly #overloads: ReadonlyMap<string, readonly number[]>;
  readonly #back = new Map<string, number>();
  refused = 0;

  constructor(terms: SimulationTerms, clock: ManualClock) {
    this.#terms = terms;
    this.#clock = clock;
    this.#startMs = clock.now();
    const random = seeded(42);
    this.#overloads = new Map(ids.map((id) => [id, overloadStarts(terms, random)]));
  }

  get backAfterMs(): readonly number[] {
    return [...this.#back.values()];
  }

  async answer(id: string): Promise<UpstreamReply> {
    const atMs = this.#clock.now() - this.#startMs;
    const { usedUp, overloadMs } = this.#terms;
    if (usedUp?.slots.includes(id) && atMs >= usedUp.fromMs && atMs < usedUp.untilMs)
      return this.#refuse(429, quotaHeaders(this.#clock.now()));
    const isOverloaded = this.#overloads.get(id)!.some((from) => atMs >= from && atMs < from + overloadMs);
    if (isOverloaded) return this.#refuse(529);
    if (usedUp?.slots.includes(id) && atMs >= usedUp.untilMs && !this.#back.has(id))
      this.#back.set(id, atMs - usedUp.untilMs);
    return { status: 200, headers: {}, events: EventStream.from(answerEvents(this.#clock)) };
  }

  async #refuse(status: number, headers: Record<string, string> = {}): Promise<never> {
    this.refused += 1;
    await sleep(this.#clock, refusalMs);
    throw refusal(status, headers);
  }
}

async function* answerEvents(clock: ManualClock): AsyncGenerator<readonly ModelEvent[]> {
  await sleep(clock, firstTokenMs);
  yield [
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } }),
  ];
  await sleep(clock, answerMs - firstTokenMs);
  yield [event({ type: 'message_stop' })];
}

function event(json: { readonly type: string; readonly [field: string]: unknown }): ModelEvent {
  return new ModelEvent(json.type, JSON.stringify(json));
}

/** Sends one request; true if it was answered. */
function sender({ pool, clock }: Kit): () => Promise<boolean> {
  const policy = builtinPolicies['least-loaded']!();
  const options = {
    attempts: 3,
    headersTimeout: '60s',
    firstTokenTimeout: '60s',
    waitIfWithin: '3s',
    rememberRefusals: '1h',
    idleTimeout: '120s',
  };
  const middleware = upstreamCall.setup(options, fakeHost({ clock })) as (
    ctx: Context,
    next: () => Promise<void>,
  ) => Promise<void>;
  return async () => {
    const { signal } = new AbortController();
    const caller = { kind: 'master', keyId: 'master', name: 'master' } as const;
    const state = {
      operation: 'generate',
      format: 'messages',
      delivery: 'stream',
      signal,
      interceptors: noInterceptors,
      additions: { system: [], tools: [] },
      onSettled: () => undefined,
      trace: new RequestTrace(clock.now),
      request: { model: 'sonnet-5', messages: [] },
      picker: pool.picker({ policy, caller, queueTimeoutMs: 30_000, signal }),
    } as unknown as GatewayState; // all that the stage uses
    const response = { get: () => '', set: () => undefined };
    const ctx = { state, headers: {}, search: '', response, set: () => undefined, remove: () => undefined };
    try {
      await middleware(ctx as unknown as Context, async () => undefined);
      for await (const _ of state.reply.events);
      return true;
    } catch {
      return false;
    }
  };
}

/** Moves the clock on in small steps, so that what timers wake goes on in its time. */
async function passTo(clock: ManualClock, untilMs: number): Promise<void> {
  while (clock.now() < untilMs) {
    clock.pass(Math.min(100, untilMs - clock.now()));
    await settled();
  }
}

function quotaHeaders(nowMs: number): Record<string, string> {
  return {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-7d-status': 'rejected',
    'anthropic-ratelimit-unified-7d-reset': String(Math.round(nowMs / 1000) + 5 * 24 * 3600),
  };
}

function overloadStarts(terms: SimulationTerms, random: () => number): readonly number[] {
  const starts: number[] = [];
  const next = () => exponential(random, terms.betweenOverloadsMs);
  for (let atMs = next(); atMs < terms.durationMs; atMs += terms.overloadMs + next()) starts.push(atMs);
  return starts;
}

function exponential(random: () => number, mean: number): number {
  return -Math.log(1 - random()) * mean;
}

/** Pseudo-random numbers from 0 to 1, the same for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
