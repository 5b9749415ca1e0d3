import type { Config } from '../../config/config.js';
import { CatalogModels } from '../../engine/models/models.js';
import { warnOfKeyNames } from '../caller-warnings.js';
import { loadedNext, loadedRuntime } from './loaded-config.js';
import { refuseLostPipelines } from './lost-pipelines.js';
import type { GatewayOptions } from '../options.js';
import { CurrentConfig } from './current-config.js';
import { buildOptions, buildRuntime, type Runtime } from '../runtime.js';
import type { Services } from '../services.js';

interface Surroundings {
  readonly services: Services;
  readonly options: GatewayOptions;
  /** Aborts once no config may be taken any more. */
  readonly closing: AbortSignal;
}

/** The runtime in force, whose replacements are built by the options of the gateway. */
export function configInForce(runtime: Runtime, { services, options, closing }: Surroundings): CurrentConfig {
  const { log, live, slotSources, slots, knownModels } = services;
  const build = (config: Config): Promise<Runtime> => {
    const models = new CatalogModels(config.models, knownModels);
    return buildRuntime(config, models, services, buildOptions(options));
  };
  return new CurrentConfig(runtime, {
    log,
    live,
    slots: slotSources,
    closing,
    buildNext: async () => {
      const next = await build(await options.loadConfig());
      await next.pipeline.start();
      void warnOfKeyNames(next.config, services); // a reload does not wait for the store
      return next;
    },
    buildPreview: async () => build(await (options.readConfig ?? options.loadConfig)()),
    refuse: (before, next) => refuseLostPipelines(before, next, services.store),
    loadedNow: (now) => loadedRuntime(now, ({ id }) => slots.get(id)?.plugins),
    loadedNext,
  });
}
