import { ConfigError, type Config } from '../../config/config.js';
import { writePath, type Path } from '../../config/document.js';
import type { DryOutcome, DryRequest } from '../dry-run/outcome.js';
import type { DrySettings } from '../dry-run/settings.js';
import { withoutSecrets } from '../dry-run/secret-texts.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { within } from '../../kit/time/within.js';
import type { AskedRequest, ConfigTest, Step } from './config-test.js';
import type { Mismatch } from './mismatch.js';
import type { TestFailure, TestResult } from './report.js';

/** The dry gateway, as a test uses it. */
export interface DryEngine {
  send(requests: readonly DryRequest[]): Promise<readonly DryOutcome[]>;
  pass(ms: number): Promise<void>;
  answerWith(slot: string, scenarios: readonly string[]): void;
  close(): Promise<void>;
  /** Texts of the config that reports must not contain. */
  readonly secrets: readonly string[];
}

export type OpenEngine = (config: Config, settings: DrySettings) => Promise<DryEngine>;

/** A test that has run, with the outcomes of its requests. */
export interface TestRun {
  readonly result: TestResult;
  /** Expectations whose value is to be recorded. */
  readonly outcomes: ReadonlyMap<AskedRequest, DryOutcome>;
}

/** Wall-clock time that a test may take. */
const maxMs = 20_000;

/**
 * Runs a test: returns all of its failures, and throws none of the engine's errors. Throws a ConfigError if the
 * pipeline cannot be built, unless the test starts the stages itself: then that may be the failure.
 */
export async function runTest(test: ConfigTest, config: Config, open: OpenEngine): Promise<TestRun> {
  const startMs = performance.now();
  const outcomes = new Map<AskedRequest, DryOutcome>();
  const failures: TestFailure[] = [];
  const course = new Course(test, failures, outcomes);
  try {
    await within(course.run(config, open), maxMs, `the test did not end within ${maxMs / 1000} s`);
  } catch (error) {
    if (error instanceof ConfigError && test.settings.startsStages !== true) throw error;
    const message = error instanceof Error ? error.message : String(error);
    await Promise.allSettled([course.stop()]); // its result has been reported
    failures.push({ ...placeOf(test, course.at), message: `could not be run: ${message}` });
  }
  const { name, at, pipeline } = test;
  const status = failures.length > 0 ? 'failed' : 'passed';
  const durationMs = performance.now() - startMs;
  const owner = pipeline !== undefined && { pipeline };
  return { result: { name, at, ...owner, status, durationMs, failures }, outcomes };
}

/** The steps of one test. */
class Course {
  readonly #test: ConfigTest;
  readonly #failures: TestFailure[];
  readonly #outcomes: Map<AskedRequest, DryOutcome>;
  #engine: DryEngine | undefined;
  #isStopped = false;
  /** Path of the current step. */
  at: Path;

  constructor(test: ConfigTest, failures: TestFailure[], outcomes: Map<AskedRequest, DryOutcome>) {
    this.#test = test;
    this.#failures = failures;
    this.#outcomes = outcomes;
    this.at = test.path;
  }

  async run(config: Config, open: OpenEngine): Promise<void> {
    const engine = await open(config, this.#test.settings);
    this.#engine = engine;
    try {
      for (const step of this.#test.steps) if (!this.#isStopped) await this.#take(step, engine);
    } finally {
      await engine.close();
    }
  }

  /** Ends it early; later results are not reported. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#engine?.close();
  }

  async #take(step: Step, engine: DryEngine): Promise<void> {
    this.at = step.path;
    if (step.afterMs > 0) await engine.pass(step.afterMs);
    for (const [slot, scenarios] of Object.entries(step.slots)) engine.answerWith(slot, scenarios);
    const outcomes = await engine.send(step.requests.map(({ send }) => send));
    for (const [index, request] of step.requests.entries()) {
      const outcome = outcomes[index];
      if (!outcome) throw new Error('the dry gateway has no outcome of a request');
      if (request.snapshots.length > 0) this.#outcomes.set(request, outcome);
      const failures = failuresOf(this.#test, request, outcome);
      this.#failures.push(...failures.map((failure) => withoutConfigSecrets(failure, engine.secrets)));
    }
  }
}

function failuresOf(test: ConfigTest, request: AskedRequest, outcome: DryOutcome): readonly TestFailure[] {
  const unknown = unknownSlots(test, request, outcome);
  if (unknown.length > 0) return unknown;
  const failures: TestFailure[] = request.check(outcome, '').map((mismatch) => ({
    ...placeOf(test, mismatch.at),
    value: valueOf(mismatch),
    ...messageOf(mismatch, outcome),
  }));
  failures.push(...misplaced(test, request, outcome));
  const refused = request.expectsConnections ? [] : outcome.refusedConnections;
  if (refused.length === 0) return failures;
  const message = `a plugin tried to connect to ${refused.join(', ')}, which a test does not allow`;
  return [...failures, { ...placeOf(test, request.path), message }];
}

/** A failure for a request that lands in another pipeline than the one whose test it is. */
function misplaced(
  test: ConfigTest,
  { path }: AskedRequest,
  { pipeline }: DryOutcome,
): readonly TestFailure[] {
  if (test.pipeline === undefined || test.pipeline === pipeline) return [];
  const message = `lands in the pipeline "${pipeline}", but its test is one of the pipeline "${test.pipeline}"`;
  return [{ ...placeOf(test, path), message }];
}

/** Unknown slots; `absent` is true for each of their keys. */
function unknownSlots(
  test: ConfigTest,
  { slots }: AskedRequest,
  { slots: known }: DryOutcome,
): readonly TestFailure[] {
  const ids = Object.keys(known);
  const isKnown = (path: string): boolean => ids.some((id) => path === id || path.startsWith(`${id}.`));
  return slots
    .filter(({ path }) => !isKnown(path))
    .map(({ path, at }) => {
      const [id = path] = path.split('.', 1);
      const meant = didYouMean(id, ids);
      const cure = meant === undefined ? `there are ${ids.join(', ') || 'none'}` : `did you mean "${meant}"?`;
      return { ...placeOf(test, at), message: `unknown slot "${id}"; ${cure}` };
    });
}

/** A failure without secrets of the config, with a note if there was one. */
function withoutConfigSecrets(failure: TestFailure, secrets: readonly string[]): TestFailure {
  const masked = withoutSecrets(failure, secrets);
  if (JSON.stringify(masked.value) === JSON.stringify(failure.value)) return masked;
  const note = '*** stands for a secret of the config';
  return { ...masked, message: masked.message === undefined ? note : `${masked.message}; ${note}` };
}

function valueOf({ path, expected, isRule, actual }: Mismatch): NonNullable<TestFailure['value']> {
  return { path, expected, isRule, actual };
}

/** A hint; for a wrong status or slot the error of the answer, and the results of the slots. */
function messageOf({ hint, path }: Mismatch, outcome: DryOutcome): Pick<TestFailure, 'message'> {
  const { error } = outcome;
  const parts = [
    hint ?? (path === 'status' && error ? `${error.code}: ${error.message}` : undefined),
    path === 'status' || path === 'slot' ? causeOf(outcome) : undefined,
  ].filter((part) => part !== undefined);
  return parts.length > 0 ? { message: parts.join(' ') } : {};
}

function placeOf(test: ConfigTest, path: Path): Pick<TestFailure, 'at' | 'place'> {
  return { at: test.positionOf(path), place: writePath(path) };
}

type Slot = DryOutcome['slots'][string];

/** Max slots to report. */
const maxSlots = 8;

/**
 * The calls and the states of all slots in one line: `slots: one: overloaded, cooling until …; two: answered`.
 * Undefined without calls if all are ready.
 */
function causeOf({ calls, slots }: Pick<DryOutcome, 'calls' | 'slots'>): string | undefined {
  const all = Object.values(slots);
  if (calls.length === 0 && all.every(isReady)) return undefined;
  const listed = all.slice(0, maxSlots).map((slot) => `${slot.id}: ${wordsOf(slot, calls)}`);
  const more = all.length > listed.length ? [`${all.length - listed.length} more`] : [];
  return `slots: ${[...listed, ...more].join('; ')}`;
}

function isReady({ state, models }: Slot): boolean {
  return state === 'ready' && models.length === 0;
}

function wordsOf(slot: Slot, calls: DryOutcome['calls']): string {
  const asked = calls.filter((call) => call.slot === slot.id).map(({ code = 'answered' }) => code);
  const { state, untilMs, models } = slot;
  const states = [
    ...(state === 'ready' ? [] : [untilMs === null ? state : `${state} until ${timeOf(untilMs)}`]),
    ...models.map(({ model, untilMs: endMs }) => `cooling for ${model} until ${timeOf(endMs)}`),
  ];
  return [...(asked.length > 0 ? asked : ['not asked']), ...states].join(', ');
}

function timeOf(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString() : 'further notice';
}
