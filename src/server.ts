#!/usr/bin/env node
import cluster from 'node:cluster';
import module from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { releaseStartMemory } from './cli/serve/start-memory.js';

// Turns off V8's allocation-site pretenuring: it would allocate per-request objects in the old space, where they
// and all that they refer to stay until a full garbage collection.
setFlagsFromString('--no-allocation-site-pretenuring');

interface CompileCache {
  readonly enableCompileCache?: () => unknown;
  readonly flushCompileCache?: () => void;
}

// Of Node 22.8 and later, in the folder that Node chooses; the types of Node 20 lack it.
const compileCache = module as typeof module & CompileCache;
compileCache.enableCompileCache?.();

if (cluster.isWorker) {
  await (await import('./cli/workers/worker.js')).work();
  started();
} else {
  const exitCode = await (await import('./cli/command-line.js')).main(process.argv.slice(2));
  // Without a code the process serves until a signal ends it.
  // A handle that a plugin has left open must not keep the process alive.
  if (exitCode === undefined) started();
  // The text of a command waits for its reader, however long.
  else process.stdout.write('', () => process.exit(exitCode));
}

/** Writes down what the start has compiled, which Node does at an orderly end only. */
function started(): void {
  compileCache.flushCompileCache?.();
  releaseStartMemory();
}
