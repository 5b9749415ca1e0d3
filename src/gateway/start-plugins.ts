import { ConfigError, StartError } from '../config/config.js';
import type { GatewayOptions } from './options.js';
import type { Runtime } from './runtime.js';
import type { Services } from './services.js';

/**
 * Starts slots, then takes those of the console, then starts the stages; a check starts nothing. Throws a StartError with
 * all problems.
 */
export async function startPlugins(
  runtime: Runtime,
  services: Services,
  options: GatewayOptions,
): Promise<void> {
  try {
    await startEach(runtime, services, options);
  } catch (error) {
    throw error instanceof ConfigError ? new StartError(error.problems) : error;
  }
}

async function startEach(
  { config, pipeline }: Runtime,
  { slots, slotSources, knownModels }: Services,
  { isCheck = false }: GatewayOptions,
): Promise<void> {
  try {
    if (!isCheck) await slots.start();
    await slotSources.take(config);
  } catch (error) {
    await pipeline.retire();
    throw error;
  }
  if (isCheck) return;
  await pipeline.start();
  if (config.slots.some(({ discovers }) => discovers)) knownModels.refresh();
}
