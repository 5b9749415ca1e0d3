import { paths } from '../load/bodies.js';
import { probeFlags } from '../measure/ask-probe.js';
import type { Lab, Server } from '../measure/lab.js';
import { json, targetAt, type Target } from './target.js';

interface PassThroughSettings {
  readonly processes?: number;
  /** Starts the process with the probe. */
  readonly isProbed?: boolean;
}

/** `node:http` in front of one `undici.Pool`, piped, nothing parsed. */
export async function startPassThrough(
  lab: Lab,
  upstream: string,
  { processes = 1, isProbed = false }: PassThroughSettings = {},
): Promise<Target> {
  const env = { UPSTREAM: upstream, PROCESSES: String(processes) };
  return plainTarget(await lab.forkServer(passThrough, env, isProbed ? probeFlags : []));
}

const passThrough = 'test/bench/targets/pass-through-process.js';

/** One whose paths are the upstream's. */
export function plainTarget(server: Server): Target {
  return targetAt(server, ({ format, script }) => ({ path: `/${script}${paths[format]}`, headers: json }));
}
