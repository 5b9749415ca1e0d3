import type { ChildProcess } from 'node:child_process';
import { nextMessage, type Lab } from '../measure/lab.js';
import type { Job, JobResult } from './job.js';

/** The load generator, as the bench sees it. */
export class LoadGenerator {
  readonly #child: ChildProcess;

  static async start(lab: Lab): Promise<LoadGenerator> {
    return new LoadGenerator(await lab.fork('test/bench/load/process.js'));
  }

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Rejects where an answer was not complete. */
  async run(job: Job): Promise<JobResult> {
    const answered = nextMessage(this.#child);
    this.#child.send(job);
    const [result] = (await answered) as [JobResult]; // what its process sends
    if (result.failure !== undefined) throw new Error(`${job.origin}${job.path}: ${result.failure}`);
    return result;
  }
}
