import type { Ledger } from '#src/state/ledger/contract.js';
import type { LedgerFilter, UsageGroup, UsageQuery } from '#src/plugin/contract/ledger.js';

/** Query of the console to the ledger, and its parameter. */
export interface Question {
  readonly name: string;
  ask(ledger: Ledger): Promise<unknown>;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** All that its pages and its API lead to; `spanMs` before `nowMs` are filled. */
export async function questionsOf(ledger: Ledger, nowMs: number): Promise<readonly Question[]> {
  return [...usageQuestions(nowMs), ...listQuestions(nowMs), ...(await deepQuestions(ledger, nowMs))];
}

const spans: readonly (readonly [name: string, spanMs: number, stepMs: number])[] = [
  ['1 h by 1 min', hourMs, minuteMs],
  ['1 h by 2 min', hourMs, 2 * minuteMs],
  ['24 h by 15 min', dayMs, 15 * minuteMs],
  ['24 h by 1 h', dayMs, hourMs],
  ['7 d by 1 h', 7 * dayMs, hourMs],
  ['7 d by 6 h', 7 * dayMs, 6 * hourMs],
  ['30 d by 1 d', 30 * dayMs, dayMs],
  ['30 d in one', 30 * dayMs, 30 * dayMs],
  ['90 d by 1 d', 90 * dayMs, dayMs],
];

const groups: readonly (UsageGroup | null)[] = [null, 'key', 'slot', 'model', 'format'];

function usageQuestions(nowMs: number): readonly Question[] {
  const endMs = Math.ceil(nowMs / hourMs) * hourMs;
  const asks = spans.flatMap(([name, spanMs, stepMs]) =>
    groups.map((by) => {
      const query: UsageQuery = { fromMs: endMs - spanMs, toMs: endMs, by, stepMs, limit: 20_001 };
      return { name: `usage ${name}, ${by ?? 'total'}`, ask: (ledger: Ledger) => ledger.usage(query) };
    }),
  );
  const month = { fromMs: endMs - 30 * dayMs, toMs: endMs, by: null, stepMs: 30 * dayMs, keyId: 'key-7' };
  return [...asks, { name: 'usage 30 d of one key', ask: (ledger) => ledger.usage(month) }];
}

const filters: Readonly<Record<string, LedgerFilter>> = {
  'no filter': {},
  key: { keyId: 'key-7' },
  'rare key': { keyId: 'key-rare' },
  'key of nobody': { keyId: 'nobody' },
  slot: { slot: 'slot-3' },
  'rare slot': { slot: 'slot-rare' },
  model: { model: 'model-3' },
  'rare model': { model: 'model-rare' },
  format: { format: 'chat' },
  'rare format': { format: 'completions' },
  'status 200': { status: 200 },
  'status 429': { status: 429 },
  'rare status': { status: 418 },
  'status of nobody': { status: 599 },
  code: { code: 'rate_limited' },
  'rare code': { code: 'teapot' },
  failed: { failed: true },
  answered: { failed: false },
  'request id': { requestId: 'rare-1' },
  'request id of nobody': { requestId: 'nobody' },
  'key, failed': { keyId: 'key-7', failed: true },
  'key, code': { keyId: 'key-7', code: 'rate_limited' },
  'key, slot, model': { keyId: 'key-7', slot: 'slot-3', model: 'model-3' },
  'key, rare slot': { keyId: 'key-7', slot: 'slot-rare' },
  'slot, rare model': { slot: 'slot-3', model: 'model-rare' },
  'format, rare status': { format: 'chat', status: 418 },
};

function listQuestions(nowMs: number): readonly Question[] {
  const ask = (name: string, filter: LedgerFilter) => ({
    name: `requests: ${name}`,
    ask: (ledger: Ledger) => ledger.requests(filter, { limit: 50 }),
  });
  const week = { fromMs: nowMs - 40 * dayMs, toMs: nowMs - 33 * dayMs };
  return [
    ...Object.entries(filters).map(([name, filter]) => ask(name, filter)),
    ask('a week', week),
    ask('a week, key', { ...week, keyId: 'key-7' }),
    ask('a week, rare code', { ...week, code: 'teapot' }),
    { name: 'requests: 1000 rows', ask: (ledger) => ledger.requests({}, { limit: 1000 }) },
  ];
}

/** Pages from the middle on, and one row. */
async function deepQuestions(ledger: Ledger, nowMs: number): Promise<readonly Question[]> {
  const middle = { toMs: nowMs - 45 * dayMs };
  const page = { limit: 50 };
  const { cursor, rows } = await ledger.requests(middle, page);
  const deep = cursor === undefined ? page : { ...page, cursor };
  const [row] = rows;
  return [
    { name: 'requests: deep page', ask: () => ledger.requests({}, deep) },
    { name: 'requests: deep page, key', ask: () => ledger.requests({ keyId: 'key-7' }, deep) },
    { name: 'requests: deep page, failed', ask: () => ledger.requests({ failed: true }, deep) },
    { name: 'one request', ask: async () => row && ledger.get(row) },
  ];
}
