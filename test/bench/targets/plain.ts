import { paths } from '../load/bodies.js';
import type { Lab, Server } from '../measure/lab.js';
import { json, targetAt, type Target } from './target.js';

/** `node:http` in front of one `undici.Pool`, piped, nothing parsed; in so many processes. */
export async function startPassThrough(lab: Lab, upstream: string, processes = 1): Promise<Target> {
  const env = { UPSTREAM: upstream, PROCESSES: String(processes) };
  return plainTarget(await lab.forkServer('test/bench/targets/pass-through-process.js', env));
}

/** One whose paths are the upstream's. */
export function plainTarget(server: Server): Target {
  return targetAt(server, ({ format, script }) => ({ path: `/${script}${paths[format]}`, headers: json }));
}
