import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { Server } from 'node:net';
import workerThreads from 'node:worker_threads';
import type { Suite } from 'mocha';

/** Module that mocha requires for the fast tests: a file that listens, spawns or opens a thread fails by its name. */
const opened = new Set<string>();

function refuse(what: string): never {
  opened.add(what);
  throw new Error(`A fast test ${what}: see test/support/fast-files.ts.`);
}

// The process that shares the files out starts the others.
if (process.env['MOCHA_WORKER_ID'] !== undefined) guard();

function refuseThread(): never {
  return refuse('opens a thread');
}

function guard(): void {
  Server.prototype.listen = () => refuse('listens');
  (childProcess.ChildProcess.prototype as { spawn?: unknown }).spawn = () => refuse('spawns'); // Node has no type of it
  for (const name of ['spawnSync', 'execFileSync', 'execSync'] as const)
    Object.assign(childProcess, { [name]: () => refuse('spawns') });
  workerThreads.Worker = refuseThread as unknown as typeof workerThreads.Worker; // nothing is ever made
  syncBuiltinESMExports();
}

export const mochaHooks = {
  /** Once for each file where they run in parallel; a refusal that a test has swallowed fails it too. */
  afterAll(this: { readonly test: { readonly parent: Suite } }): void {
    const files = new Set(this.test.parent.suites.map(({ file }) => file));
    const what = [...opened].join(' and ');
    opened.clear();
    if (what !== '') throw new Error(`${[...files].join(', ')} ${what}, and is no fast test.`);
  },
};
