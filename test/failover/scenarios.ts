import { backup, idOf, primary, type Answer, type FailoverBench, type Mode } from './bench.js';
import { outageMs, throughAnOutage } from './outage.js';
import { textOf, tokenCount, type ProviderCall } from './provider-call.js';
import type { Fault } from './provider.js';

/** `safe`: a clean error after a part of the answer, and nothing that looks whole. */
export type Outcome = 'answered' | 'safe';

/** A fault of the provider, and the rule by which the gateway passes. */
export interface Scenario {
  readonly id: string;
  readonly fault: string;
  readonly rule: string;
  /** Best possible outcome of a stream; of a verified answer it is `answered`. */
  readonly streamed: Outcome;
  /** The primary model's fault. */
  readonly primary: Fault;
  /** The fault of the model that answers in its place; absent: none. */
  readonly backup?: Fault;
  /** The fault is met by a time-out of the gateway. */
  readonly meetsTimeout?: true;
  /** Asks; default: once. */
  readonly drive?: (bench: FailoverBench, mode: Mode) => Promise<readonly Answer[]>;
  /** The caller is to be told the error. */
  readonly wantsError?: true;
  /** Violation of the rule by what the caller and the provider have seen. */
  readonly violation?: (seen: Seen) => string | false;
}

/** Answers as the caller has them, and the times of the provider's calls. */
export interface Seen {
  readonly answers: readonly Answer[];
  /** The first of them. */
  readonly answer: Answer;
  readonly primaryCalls: readonly number[];
  readonly backupCalls: readonly number[];
}

const seconds = 1000;
const overloaded = (call: ProviderCall) => call.refuse(503, 'overloaded', 'The server is overloaded.');
const limited = (call: ProviderCall, headers = {}) =>
  call.refuse(429, 'rate_limit_exceeded', 'Too many requests.', headers);

const cutAtForty: Fault = async (call) => {
  await call.answer({ stopAt: 40 });
  call.cut();
};

/** Refuses a request that ends in words of the assistant, as many models do. */
const withoutPrefill: Fault = (call) => {
  const { messages = [] } = call.body as { readonly messages?: readonly { readonly role: string }[] };
  if (messages.at(-1)?.role === 'assistant')
    return call.refuse(400, 'invalid_request', 'No prefill, please.');
  return call.answer();
};

/** The sixteen faults that Failover Bench tests by, in our own words and code. */
export const scenarios: readonly Scenario[] = [
  {
    id: 'S01',
    fault: '429 with `Retry-After: 2`, once',
    rule: 'the primary is asked again, after at least 1.8 s',
    streamed: 'answered',
    primary: (call) => (call.nth === 1 ? limited(call, { 'retry-after': '2' }) : call.answer()),
    violation: ({ primaryCalls: [first = 0, second] }) =>
      second === undefined
        ? 'the primary was not asked again'
        : second - first < 1.8 * seconds && 'too early',
  },
  {
    id: 'S02',
    fault: '429 for ever',
    rule: 'at most 6 calls, then the fallback answers',
    streamed: 'answered',
    primary: (call) => limited(call),
    violation: atMostSixCalls,
  },
  {
    id: 'S03',
    fault: '500, once',
    rule: 'the same provider is asked twice',
    streamed: 'answered',
    primary: (call) => (call.nth === 1 ? call.refuse(500, 'server_error', 'A fault.') : call.answer()),
    violation: ({ primaryCalls }) =>
      primaryCalls.length !== 2 && `the primary had ${primaryCalls.length} calls`,
  },
  {
    id: 'S04',
    fault: '503 for ever',
    rule: 'at most 6 calls, then the fallback answers',
    streamed: 'answered',
    primary: overloaded,
    violation: atMostSixCalls,
  },
  {
    id: 'S05',
    fault: 'reset before the headers',
    rule: 'an answer',
    streamed: 'answered',
    primary: (call) => call.reset(),
  },
  {
    id: 'S06',
    fault: 'silence for 120 s',
    rule: 'an answer within 100 s, and the silent route is not asked again',
    streamed: 'answered',
    meetsTimeout: true,
    primary: async (call) => {
      await call.after(120 * seconds);
      await call.answer();
    },
    violation: ({ answer, primaryCalls }) =>
      answer.ms > 100 * seconds
        ? `it took ${answer.ms} ms`
        : primaryCalls.length > 1 && 'the silent route was asked again',
  },
  {
    id: 'S07',
    fault: 'headers at once, the first token after 20 s',
    rule: 'an answer within 15 s',
    streamed: 'answered',
    meetsTimeout: true,
    primary: (call) => call.answer({ firstTokenAfterMs: 20 * seconds }),
    violation: ({ answer, primaryCalls }) =>
      answer.ms > 15 * seconds
        ? `it took ${answer.ms} ms`
        : primaryCalls.length > 1 && 'the slow route was asked again, which takes too long in real times',
  },
  {
    id: 'S08',
    fault: 'cut at token 40',
    rule: 'a whole answer, else a clean error',
    streamed: 'safe',
    primary: cutAtForty,
  },
  {
    id: 'S09',
    fault: 'stall at token 40',
    rule: 'a whole answer, else a clean error',
    streamed: 'safe',
    meetsTimeout: true,
    primary: (call) => call.answer({ stopAt: 40 }),
  },
  {
    id: 'S10',
    fault: 'one event more, the tenth, that is bad JSON',
    rule: 'a whole answer',
    streamed: 'answered',
    primary: (call) => call.answer({ badEventAt: 10 }),
  },
  {
    id: 'S11',
    fault: 'no `[DONE]`, and the connection stays open',
    rule: 'done within 8 s, with usage',
    streamed: 'answered',
    primary: (call) => call.answer({ isDone: false }),
    violation: ({ answer }) =>
      answer.ms > 8 * seconds
        ? `it took ${answer.ms} ms`
        : answer.outputTokens !== tokenCount && `usage says ${answer.outputTokens} tokens`,
  },
  {
    id: 'S12',
    fault: '400 `context_length_exceeded`',
    rule: 'not sent again; a larger model answers',
    streamed: 'answered',
    primary: (call) =>
      call.refuse(400, 'context_length_exceeded', "This model's maximum context length is 8192 tokens."),
    violation: ({ answer, primaryCalls }) =>
      primaryCalls.length !== 1
        ? 'it was sent again'
        : answer.text !== textOf(backup) && 'the larger one did not answer',
  },
  {
    id: 'S13',
    fault: '400, a content filter',
    rule: 'the error reaches the caller, and no other model is asked',
    streamed: 'answered',
    wantsError: true,
    primary: (call) => call.refuse(400, 'content_filter', 'The content filter has refused the prompt.'),
    violation: ({ answer, backupCalls }) =>
      answer.status !== 400 || !answer.error?.includes('content filter')
        ? `the caller was told ${answer.status} ${answer.error}`
        : backupCalls.length > 0 && 'it was routed around',
  },
  {
    id: 'S14',
    fault: 'cut at token 40, and the fallback refuses a prefill',
    rule: 'a whole answer, else a clean error',
    streamed: 'safe',
    primary: cutAtForty,
    backup: withoutPrefill,
  },
  {
    id: 'S15',
    fault: 'down for 60 s, 20 requests meanwhile',
    rule: 'all are answered, and the primary is back within 30 s',
    streamed: 'answered',
    primary: (call) => (call.sinceFirstMs < outageMs ? call.reset() : call.answer()),
    drive: throughAnOutage,
    violation: ({ answers }) =>
      answers.at(-1)?.text !== textOf(primary) && 'the primary was not asked within 30 s',
  },
  {
    id: 'S16',
    fault: '503, and the fallback answers',
    rule: '`model` names the model that answered',
    streamed: 'answered',
    primary: overloaded,
    violation: ({ answer }) => answer.model !== idOf.backup && `model is ${answer.model}`,
  },
];

function atMostSixCalls({ answer, primaryCalls, backupCalls }: Seen): string | false {
  const calls = primaryCalls.length + backupCalls.length;
  if (calls > 6) return `there were ${calls} calls`;
  return answer.text !== textOf(backup) && 'the fallback did not answer';
}
