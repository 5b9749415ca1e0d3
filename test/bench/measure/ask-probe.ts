import type { ChildProcess } from 'node:child_process';
import { built, nextMessage } from './lab.js';
import type { ProbeMessage } from './probe.js';

/** Flags of Node for a process that is to answer `askProbe`. */
export const probeFlags = ['--expose-gc', '--import', built('test/bench/measure/probe.js')];

/** Answer of a process that was started with `probeFlags`, and with a channel to its parent. */
export async function askProbe(child: ChildProcess, message: ProbeMessage): Promise<unknown> {
  const answered = nextMessage(child);
  child.send(message);
  const [answer] = await answered;
  return answer;
}
