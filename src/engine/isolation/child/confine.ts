import { Writable } from 'node:stream';

/** Members of `process` that a stage may use; all others are taken away, such as `kill` and `getBuiltinModule`. */
const kept: ReadonlySet<string> = new Set([
  'version',
  'versions',
  'arch',
  'platform',
  'release',
  'features',
  'config',
  'env',
  'argv',
  'argv0',
  'execArgv',
  'execPath',
  'title',
  'pid',
  'exitCode',
  'exit',
  'reallyExit',
  'abort',
  'nextTick',
  'hrtime',
  'uptime',
  'cwd',
  'memoryUsage',
  'constrainedMemory',
  'availableMemory',
  'cpuUsage',
  'resourceUsage',
  'emitWarning',
  'permission',
  'domain',
  'noDeprecation',
  'traceDeprecation',
  'throwDeprecation',
  'sourceMapsEnabled',
  'setSourceMapsEnabled',
  'allowedNodeEnvironmentFlags',
  '_events',
  '_eventsCount',
  '_maxListeners',
  '_exiting',
  '_fatalException',
  '_tickCallback',
  '_rawDebug',
]);

/** Globals that reach the network. */
const removedGlobals = ['fetch', 'WebSocket', 'EventSource', 'navigator'];

/** Takes away what a stage could use to reach other processes or the network; its output goes to `print`. */
export function confine(print: (text: string) => void): void {
  const members = process as unknown as Record<string, unknown>; // its members are looked up by name
  for (const name of Object.getOwnPropertyNames(process))
    if (!kept.has(name)) Reflect.deleteProperty(members, name);
  for (const name of removedGlobals) Reflect.deleteProperty(globalThis, name);
  for (const name of ['stdout', 'stderr']) Object.defineProperty(process, name, { value: outputTo(print) });
  // A terminal's or a supervisor's signals are for the gateway, which ends this process when it has drained.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
}

/** Stream in place of one with a socket, by whose constructor others could be made. */
function outputTo(print: (text: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: unknown, _encoding, done) {
      print(String(chunk).trimEnd());
      done();
    },
  });
}
