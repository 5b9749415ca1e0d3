import { GatewayError } from '../../plugin/index.js';
import type { Prepared } from '../../gateway/reload/prepared.js';
import type { Runtime } from '../../gateway/runtime.js';

/** Refusal of a config whose canary could not be compared with the config in force; undefined if it can be. */
export function canaryRefusal({ changes, runtime }: Prepared, inForce: Runtime): GatewayError | undefined {
  const shared = (['slots', 'models'] as const).filter((part) => changes[part].length > 0);
  if (shared.length > 0)
    return new GatewayError(
      'conflict',
      `A canary shares the ${shared.join(' and ')} with the config in force, but this one changes them: reload ` +
        'those changes first, or the whole config without a canary.',
    );
  const kept = callRoutes(runtime);
  const lost = [...callRoutes(inForce)].filter((route) => !kept.has(route));
  if (lost.length === 0) return undefined;
  return new GatewayError(
    'conflict',
    `This config no longer serves ${lost.join(', ')}. The sessions of a canary would be refused there, which no figure ` +
      'would count: reload this change without a canary.',
  );
}

/** Routes of model calls, whose answers a canary counts. */
function callRoutes({ formats, pipeline }: Runtime): ReadonlySet<string> {
  const routes = [...formats.flatMap((format) => format.routes), ...pipeline.routes];
  const calls = routes.filter(({ operation }) => operation === 'generate');
  return new Set(calls.map(({ method, path }) => `${method} ${path.replace('{/v1}', '/v1')}`));
}
