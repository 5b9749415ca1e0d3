#!/usr/bin/env node
import cluster from 'node:cluster';
import { keepRequestsYoung } from './cli/heap.js';

keepRequestsYoung();

if (cluster.isWorker) {
  await (await import('./workers/worker.js')).work();
} else {
  const exitCode = await (await import('./cli/command-line.js')).main(process.argv.slice(2));
  // Without a code the process serves until a signal ends it.
  // A handle that a plugin has left open must not keep the process alive.
  if (exitCode !== undefined) process.stdout.write('', () => process.exit(exitCode));
}
