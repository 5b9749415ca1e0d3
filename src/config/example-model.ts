import { globMatcher } from '../plugin/index.js';
import type { Config } from './config.js';

/** Name of a model that a slot serves, as far as the config says it; undefined where only the upstreams know. */
export function exampleModel({ slots, models }: Pick<Config, 'slots' | 'models'>): string | undefined {
  const served = slots.flatMap((slot) => (slot.discovers ? [] : slot.models));
  const isServed = globMatcher(served);
  const inCatalog = models.find(({ id, upstreamModel, aliases }) =>
    [id, upstreamModel, ...aliases].some(isServed),
  );
  return inCatalog?.id ?? served.find((name) => !name.includes('*'));
}
