import { randomUUID } from 'node:crypto';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import type { LedgerTokens } from '#src/plugin/contract/ledger.js';
import { seeded } from '../../support/seeded.js';
import type { FormatName } from '../../support/formats.js';

export const spanDays = 90;

const names = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}-${at}`);
export const keyIds = names('key', 50);
const slots = names('slot', 10);
const models = names('model', 8);
const formats: readonly FormatName[] = ['messages', 'messages', 'chat', 'responses'];
const failures = [
  ['rate_limited', 429],
  ['upstream_overloaded', 529],
  ['upstream_timeout', 504],
] as const;

/** Batches of rows that fill the days before `nowMs`, the oldest of them first; everything that groups them is even. */
export function* batches(count: number, nowMs: number, size = 2000): Generator<readonly LedgerRow[]> {
  const random = seeded(1);
  const fromMs = nowMs - spanDays * 86_400_000;
  const gapMs = (nowMs - fromMs) / count;
  for (let at = 0; at < count; at += size)
    yield Array.from({ length: Math.min(size, count - at) }, (_, nth) =>
      rowAt(Math.floor(fromMs + (at + nth) * gapMs), at + nth, random),
    );
}

/** The first three of them have what no other has, so that these are the hardest to find. */
export function rowAt(atMs: number, nth: number, random: () => number): LedgerRow {
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item; // there are some
  const isRare = nth < 3;
  const [code, failure] = isRare ? (['teapot', 418] as const) : pick(failures);
  const failed = isRare || random() < 0.03;
  const durationMs = Math.floor(500 + random() * 20_000);
  const slot = isRare ? 'slot-rare' : pick(slots);
  return {
    id: randomUUID(),
    atMs,
    requestId: isRare ? `rare-${nth}` : `req_${atMs.toString(16).padStart(12, '0')}${randomUUID().slice(16)}`,
    keyId: isRare ? 'key-rare' : pick(keyIds),
    slot,
    model: isRare ? 'model-rare' : pick(models),
    format: isRare ? 'completions' : pick(formats),
    pipeline: 'default',
    status: failed ? failure : 200,
    ...(failed && { code }),
    failed,
    streamed: random() < 0.8,
    attempts: failed ? 3 : 1,
    ...(!failed && timesOf(durationMs)),
    queueMs: random() < 0.9 ? 0 : Math.floor(random() * 500),
    durationMs,
    billed: tokens(random),
    shown: tokens(random),
    trace: traceOf(slot, durationMs),
  };
}

/** Times of a complete answer. */
function timesOf(durationMs: number) {
  const firstEventMs = Math.floor(durationMs / 10);
  return { firstEventMs, firstTokenMs: firstEventMs + 20, outputMs: durationMs - firstEventMs };
}

function tokens(random: () => number): LedgerTokens {
  const upTo = (most: number) => Math.floor(random() * most);
  return {
    input: upTo(3000),
    cacheRead: upTo(90_000),
    cacheWrite5m: 0,
    cacheWrite1h: upTo(4000),
    output: upTo(2000),
  };
}

const stages = ['auth', 'body-limit', 'format-decode', 'rate-limit', 'persona-inject', 'web-search-tool'];
const laterStages = ['tool-choice', 'max-tokens', 'cache-ttl', 'slot-pick', 'upstream-call', 'format-encode'];

/** As long as those of the shipped pipeline. */
function traceOf(slot: string, ms: number): NonNullable<LedgerRow['trace']> {
  return {
    stages: [...stages, ...laterStages].map((stage, at) => ({ stage, ms: at === 10 ? ms : at % 3 })),
    calls: [{ slot, ms }],
  };
}
