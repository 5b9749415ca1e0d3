import type { GatewayOptions } from './options.js';
import type { Runtime } from './runtime.js';
import type { Services } from './services.js';

/** Starts slots, then takes those of the console, then starts the stages; a check starts nothing. */
export async function startPlugins(
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
