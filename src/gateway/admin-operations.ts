import type { Operations } from '../admin/routes.js';
import { problemsOf } from '../config/config.js';
import type { Gateway } from './gateway.js';
import { maskedConfig } from './masked-config.js';

/** Operations of an operator, for `/admin/*` and the panel. */
export function operationsOf(gateway: Gateway): Operations {
  const { slots } = gateway.services;
  return {
    listSlots: () => slots.list(),
    pause: (id) => slots.pause(id),
    resume: (id) => slots.resume(id),
    drain: (id) => slots.drain(id),
    diagnose: (id, signal) => slots.diagnose(id, signal),
    reload: () =>
      gateway.reload().then(
        (needsRestart) => ({ problems: [], needsRestart }),
        (error: unknown) => ({ problems: problemsOf(error), needsRestart: [] }),
      ),
    describePipeline: () => gateway.runtime.pipeline.stages,
    get writtenConfig() {
      return maskedConfig(gateway.runtime, slots);
    },
  };
}
