import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { spreadOf } from '../report/statistics.js';
import { textsOf, scripts } from '../upstream/scripts.js';
import type { Ask } from '../workloads.js';
import { textsIn } from './answers.js';
import { bodiesOf } from './bodies.js';
import { delaysOf } from './delays.js';
import { exchange, type Answer } from './exchange.js';
import type { Job, JobResult } from './job.js';

/** The load generator: a process of its own that does one job after the other, and checks every answer. */
process.on('message', (job: Job) => {
  void run(job).then((result) => process.send?.(result));
});

async function run(job: Job): Promise<JobResult> {
  const bodies = nextBodies(job);
  const before = process.cpuUsage();
  const startedMs = performance.now();
  const answers = new Answers(job);
  const failure = await load(job, bodies, answers).then(
    () => undefined,
    (error: unknown) => String(error),
  );
  const wallMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(before);
  return {
    wallMs,
    cpuMs: (user + system) / 1000,
    ...answers.figures(),
    ...(failure !== undefined && { failure }),
  };
}

const sentBefore = new Map<string, number>();

/** Bodies of a job, made before its time begins; those of sessions continue where the last job to the target ended. */
function nextBodies({ origin, ask, requests }: Job): readonly Buffer[] {
  const key = `${origin}/${ask.script}`;
  const first = sentBefore.get(key) ?? 0;
  sentBefore.set(key, first + requests);
  return bodiesOf(ask, first, requests);
}

/** Rejects at the first answer that is not whole, or where nothing comes any more. */
async function load(job: Job, bodies: readonly Buffer[], answers: Answers): Promise<void> {
  const { origin, path, headers, requests, concurrency, rampMs = 0 } = job;
  const pool = new Pool(origin, { connections: concurrency, headersTimeout: 60_000, bodyTimeout: 60_000 });
  let sent = 0;
  const lane = async (_: unknown, at: number): Promise<void> => {
    await sleep((at * rampMs) / concurrency);
    while (sent < requests) {
      const body = bodies[sent % bodies.length] ?? null;
      sent += 1;
      answers.check(await exchange(pool, { method: 'POST', path, headers, body }, job));
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, lane));
  } finally {
    await pool.destroy();
  }
}

/** Checks the answers of one job and keeps their times. */
class Answers {
  readonly #ask: Ask;
  readonly #isTimed: boolean;
  readonly #expected: string;
  readonly #firstByteMs: number[] = [];
  readonly #delayMs: number[] = [];

  constructor({ ask }: Job) {
    this.#ask = ask;
    this.#isTimed = 'everyMs' in scripts[ask.script];
    this.#expected = this.#isTimed ? '' : textsOf(ask.script).join('');
  }

  check(answer: Answer): void {
    const { format, isStream, script } = this.#ask;
    const body = Buffer.concat(answer.chunks).toString();
    if (answer.status !== 200) throw new Error(`status ${answer.status}: ${body.slice(0, 500)}`);
    const texts = textsIn(format, isStream, body);
    const { deltas } = scripts[script];
    if (isStream && texts.length !== deltas) throw new Error(`${texts.length} deltas of ${deltas}`);
    if (!this.#isTimed && texts.join('') !== this.#expected)
      throw new Error(`another text: ${texts.join('')}`);
    this.#firstByteMs.push(((answer.atMicros[0] ?? 0) - answer.startedMicros) / 1000);
    if (this.#isTimed) for (const delay of delaysOf(answer, texts)) this.#delayMs.push(delay);
  }

  figures(): Pick<JobResult, 'firstByteMs' | 'delayMs'> {
    const delays = this.#delayMs.length > 0 && { delayMs: spreadOf(this.#delayMs) };
    return { firstByteMs: spreadOf(this.#firstByteMs), ...delays };
  }
}
