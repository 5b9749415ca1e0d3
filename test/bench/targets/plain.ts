import { paths } from '../load/bodies.js';
import type { Server } from '../measure/lab.js';
import { json, targetAt, type StartTarget, type Target } from './target.js';

/** `node:http` in front of `undici.request`, piped, nothing parsed. */
export const startPassThrough: StartTarget = async (lab, upstream) =>
  plainTarget(await lab.forkServer('test/bench/targets/pass-through-process.js', { UPSTREAM: upstream }));

/** One whose paths are the upstream's. */
export function plainTarget(server: Server): Target {
  return targetAt(server, ({ format, script }) => ({ path: `/${script}${paths[format]}`, headers: json }));
}
