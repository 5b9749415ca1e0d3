import { setTimeout as delay } from 'node:timers/promises';
import { pluginPlace } from '../../engine/trace/plugin-place.js';
import { openMainThread, type MainThread } from './main-thread.js';
import { writeStuckLine } from './stuck-line.js';
import { raiseMs, type WatchOptions } from './watchdog.js';

/** Logs where the loop is stuck, and kills the process unless the loop goes on in time. */
export async function reportStuck(options: WatchOptions, isStuck: () => boolean): Promise<void> {
  const { stuckTimeoutMs, killMs, log } = options;
  const main = openMainThread();
  const stack = await main.stack(stackTimeoutMs);
  const restMs = killMs - stuckTimeoutMs;
  const fields = { stuckMs: stuckTimeoutMs, plugin: pluginPlace({ stack }), stack: stack?.split('\n') };
  await writeStuckLine(log, fields, stack === undefined ? withoutStack : withStack);
  for (let waitedMs = 0; waitedMs < restMs && isStuck(); waitedMs += raiseMs) await delay(raiseMs);
  if (isStuck()) await kill(main);
  main.close();
}

/** The kernel ignores a SIGKILL of process 1 to itself, as a container's only process is: then JavaScript ends it. */
async function kill(main: MainThread): Promise<void> {
  process.kill(process.pid, 'SIGKILL');
  await delay(raiseMs);
  main.exit(killedCode);
  await delay(stackTimeoutMs);
}

const withStack =
  'The event loop is stuck: no request is served. Mend the code at the top of the stack; the process is killed.';
const withoutStack = 'The event loop is stuck in a native call: no request is served. The process is killed.';

/** Time for the main thread to reach JavaScript and show its stack. */
const stackTimeoutMs = 5000;

/** Exit code of a process that SIGKILL has ended, as shells have it. */
const killedCode = 137;
