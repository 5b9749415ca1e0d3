import { setTimeout as delay } from 'node:timers/promises';
import { writeSync } from 'node:fs';
import { pluginPlace } from '../../engine/trace/plugin-place.js';
import { openMainThread, type MainThread } from './main-thread.js';
import { raiseMs, type WatchOptions, type StuckLog } from './watchdog.js';

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

/**
 * Writes an error line to standard output at once: what a thread logs goes through the loop of the main thread. Gives
 * up after a second where nobody reads it.
 */
async function writeStuckLine({ level, format, fields }: StuckLog, own: object, msg: string): Promise<void> {
  if (level === 'silent' || level === 'fatal') return;
  const line = `${JSON.stringify({ level: 'error', time: new Date().toISOString(), ...fields, ...own, msg })}\n`;
  let rest = Buffer.from(format === 'pretty' ? await pretty(line) : line);
  for (let tries = 0; rest.length > 0 && tries < maxTries; tries += 1) {
    rest = rest.subarray(written(rest));
    if (rest.length > 0) await delay(pauseMs);
  }
}

async function pretty(line: string): Promise<string> {
  const { prettyLine } = await import('../../gateway/telemetry/pretty-line.js');
  return prettyLine(line, false);
}

/** Number of bytes that were written; 0 where the pipe is full or closed. */
function written(bytes: Buffer): number {
  try {
    return writeSync(1, bytes);
  } catch {
    return 0; // tried again, for a second at most
  }
}

const maxTries = 20;
const pauseMs = 50;
