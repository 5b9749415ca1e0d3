import { backup, FailoverBench, primary, type Answer, type Mode } from './bench.js';
import { textOf, tokenCount } from './provider-call.js';
import type { Outcome, Scenario, Seen } from './scenarios.js';

export interface Result {
  readonly id: string;
  readonly mode: Mode;
  readonly outcome: Outcome | 'failed';
  /** The reason of a failure. */
  readonly why: string | undefined;
  /** Time of the longest answer. */
  readonly ms: number;
  readonly primaryCalls: number;
  readonly backupCalls: number;
}

/** Timeouts of the gateway in real times. */
const timeoutMs = 10_000;

/** A fault in one mode, with a gateway and a provider of its own that are up. */
export interface ReadyScenario {
  /** Asks, judges, and closes both. */
  run(): Promise<Result>;
}

export async function startScenario(scenario: Scenario, mode: Mode, scale: number): Promise<ReadyScenario> {
  const faults = { [primary]: scenario.primary, [backup]: scenario.backup ?? ((call) => call.answer()) };
  // Where no timeout is met, a slow machine must not meet one.
  const terms = { scale, timeoutMs: scenario.meetsTimeout ? timeoutMs * scale : timeoutMs };
  const bench = await FailoverBench.start(faults, terms);
  return {
    async run() {
      try {
        const answers = scenario.drive ? await scenario.drive(bench, mode) : [await bench.ask(mode)];
        return judged(scenario, mode, answers, bench);
      } finally {
        await bench.close();
      }
    },
  };
}

function judged(
  scenario: Scenario,
  mode: Mode,
  answers: readonly Answer[],
  { provider }: FailoverBench,
): Result {
  const timesOf = (model: string) => provider.callsFor(model).map(({ atMs }) => atMs);
  const [primaryCalls, backupCalls] = [timesOf(primary), timesOf(backup)];
  const [answer] = answers;
  if (!answer) throw new Error('Each scenario asks at least once.');
  const seen: Seen = { answers, answer, primaryCalls, backupCalls };
  const worst = answers.map((each) => outcomeOf(each, scenario)).toSorted(byRank)[0] ?? 'failed';
  const violation = scenario.violation?.(seen) || undefined;
  return {
    id: scenario.id,
    mode,
    outcome: violation === undefined ? worst : 'failed',
    why:
      violation ??
      (worst === 'failed' ? inWords(answers.find((each) => outcomeOf(each, scenario) === worst)) : undefined),
    ms: Math.max(...answers.map(({ ms }) => ms)),
    primaryCalls: primaryCalls.length,
    backupCalls: backupCalls.length,
  };
}

const ranks = ['failed', 'safe', 'answered'] as const;

function byRank(one: Result['outcome'], other: Result['outcome']): number {
  return ranks.indexOf(one) - ranks.indexOf(other);
}

function outcomeOf(answer: Answer, { wantsError, streamed }: Scenario): Result['outcome'] {
  const { error, finish, isDone, status } = answer;
  if (wantsError) return error !== undefined && status >= 400 ? 'answered' : 'failed';
  if (isWhole(answer)) return 'answered';
  const isClean = error !== undefined && finish === undefined && (status >= 400 || !isDone);
  return isClean && streamed === 'safe' ? 'safe' : 'failed';
}

/** True for all tokens of one model, each once, with a finish reason, usage and the end mark. */
function isWhole({ status, text, finish, outputTokens, isDone, error }: Answer): boolean {
  const isOfOne = [primary, backup].some((model) => text.trim() === textOf(model).trim());
  return (
    status === 200 &&
    isOfOne &&
    finish === 'stop' &&
    outputTokens === tokenCount &&
    isDone &&
    error === undefined
  );
}

function inWords(answer: Answer | undefined): string {
  const { text = '', ...rest } = answer ?? {};
  return JSON.stringify({ ...rest, text: `${text.slice(0, 20)}… (${text.length})` });
}
