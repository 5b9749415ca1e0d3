import { Session, type Debugger } from 'node:inspector';

/** Inspector session to the main thread, which answers also within a loop that never ends. */
export interface MainThread {
  /** Stack as an error has it, once the main thread comes to JavaScript; undefined after `maxMs`. */
  stack(maxMs: number): Promise<string | undefined>;
  /** Ends the process from the main thread. */
  exit(code: number): void;
  close(): void;
}

export function openMainThread(): MainThread {
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
