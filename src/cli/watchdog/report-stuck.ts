import { setTimeout as delay } from 'node:timers/promises';
import { writeSync } from 'node:fs';
import { Session, type Debugger } from 'node:inspector';
import { pluginPlace } from '../../engine/trace/plugin-place.js';
import { sourceStack } from '../../kit/source-stack.js';
import { raiseMs, type WatchOptions, type StuckLog } from './watchdog.js';

/** Logs the position of a stuck loop, and kills the process unless the loop recovers in time. */
export async function reportStuck(options: WatchOptions, isStuck: () => boolean): Promise<void> {
  const { stuckTimeoutMs, killMs, log } = options;
  const main = openMainThread();
  const stack = await main.stack(stackTimeoutMs).then((found) => found && sourceStack(found));
  const restMs = killMs - stuckTimeoutMs;
  const fields = { stuckMs: stuckTimeoutMs, plugin: pluginPlace({ stack }), stack: stack?.split('\n') };
  await writeStuckLine(log, fields, stack === undefined ? withoutStack : withStack);
  for (let waitedMs = 0; waitedMs < restMs && isStuck(); waitedMs += raiseMs) await delay(raiseMs);
  if (isStuck()) await kill(main);
  main.close();
}

/**
 * The kernel ignores a SIGKILL that process 1 sends itself, as the only process of a container: then JavaScript ends
 * it.
 */
async function kill(main: MainThread): Promise<void> {
  process.kill(process.pid, 'SIGKILL');
  await delay(raiseMs);
  main.exit(killedCode);
  await delay(stackTimeoutMs);
}

const withStack =
  'The event loop is stuck, and no requests are served. The process is killed; fix the code at the top of the stack.';
const withoutStack =
  'The event loop is stuck in a native call, and no requests are served. The process is killed.';

/** Time for the main thread to reach JavaScript and show its stack. */
const stackTimeoutMs = 5000;

/** Exit code of a process killed by SIGKILL, as in shells. */
const killedCode = 137;

/**
 * Writes an error line to standard output at once, since a thread's usual log goes through the loop of the main thread.
 * Stops after a second if nobody reads it.
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

/** Number of bytes that were written; 0 if the pipe is full or closed. */
function written(bytes: Buffer): number {
  try {
    return writeSync(1, bytes);
  } catch {
    return 0; // tried again, for a second at most
  }
}

const maxTries = 20;
const pauseMs = 50;

/** Inspector session to the main thread, which also answers within an endless loop. */
interface MainThread {
  /** Stack in the form of an error's, once the main thread runs JavaScript again; undefined after `maxMs`. */
  stack(maxMs: number): Promise<string | undefined>;
  /** Ends the process from the main thread. */
  exit(code: number): void;
  close(): void;
}

function openMainThread(): MainThread {
  const session = new MainThreadSession();
  session.connectToMainThread();
  return {
    stack: (maxMs) => stackOf(session, maxMs),
    exit: (code) => session.post('Runtime.evaluate', { expression: `process.reallyExit(${code})` }),
    close: () => session.disconnect(),
  };
}

/** Session with the method that the types of Node 20 lack. */
const MainThreadSession = Session as unknown as new () => Session & { connectToMainThread(): void };

function stackOf(session: Session, maxMs: number): Promise<string | undefined> {
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  return new Promise((resolve) => {
    const end = (stack: string | undefined): void => {
      session.post('Debugger.disable'); // a pause that comes later would hold the main thread
      clearTimeout(timer);
      resolve(stack);
    };
    const timer = setTimeout(() => end(undefined), maxMs);
    session.once('Debugger.paused', ({ params }) => {
      session.post('Debugger.resume');
      end(textOf(params.callFrames, urls));
    });
    session.post('Debugger.enable');
    session.post('Debugger.pause');
  });
}

function textOf(frames: readonly Debugger.CallFrame[], urls: ReadonlyMap<string, string>): string {
  const lines = frames.slice(0, maxFrames).map(({ functionName, location }) => {
    const { scriptId, lineNumber, columnNumber = 0 } = location;
    const place = `${urls.get(scriptId) ?? 'unknown'}:${lineNumber + 1}:${columnNumber + 1}`;
    return `    at ${functionName || '<anonymous>'} (${place})`;
  });
  return lines.join('\n');
}

const maxFrames = 50;
