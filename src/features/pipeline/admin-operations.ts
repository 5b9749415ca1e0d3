import type { Operations, Preview } from './operations.js';
import { noChanges, type ConfigDiff } from '../../config/diff/config-diff.js';
import { problemsOf } from '../../config/config.js';
import type { Gateway } from '../../gateway/gateway.js';
import { canary } from '../canary/index.js';
import { explain } from '../explain/index.js';
import { withoutTexts } from '../explain/without-texts.js';
import { recordedRequest } from '../explain/recorded-request.js';
import { maskedConfig } from '../../operator/masked-config.js';

/** Operations of an operator, for `/admin/*` and the panel. */
export function operationsOf(gateway: Gateway): Operations {
  const { slots } = gateway.services;
  return {
    listSlots: () => slots.list(),
    pause: (id) => slots.pause(id),
    resume: (id) => slots.resume(id),
    drain: (id) => slots.drain(id),
    diagnose: (id, signal) => slots.diagnose(id, signal),
    reload: (options) =>
      gateway.reload(options).then(
        (taken) => ({ problems: [], ...taken }),
        (error: unknown) => ({ problems: problemsOf(error), needsRestart: [], changes: noChanges }),
      ),
    startCanary: (percent, options) =>
      previewOf(gateway.use(canary).then((reload) => reload.start(percent, options))),
    commitCanary: async () => ({ problems: [], ...(await (await gateway.use(canary)).commit()) }),
    cancelCanary: async () => (await gateway.use(canary)).cancel(),
    canary: async () => (await gateway.opened(canary))?.report,
    previewReload: () => previewOf(gateway.previewReload()),
    async explain(read, options) {
      const explanation = await (await gateway.use(explain)).explain(read);
      return options?.withoutTexts ? withoutTexts(explanation) : explanation;
    },
    recordedRequest: (id) => recordedRequest(gateway, id),
    describePipeline: () => gateway.runtime.pipeline.stages,
    get notices() {
      return gateway.runtime.pipeline.notices;
    },
    get writtenConfig() {
      return maskedConfig(gateway.runtime, slots);
    },
  };
}

/** Changes, or the problems of a refused config. */
function previewOf(changes: Promise<ConfigDiff>): Promise<Preview> {
  return changes.then(
    (made) => ({ problems: [], changes: made }),
    (error: unknown) => ({ problems: problemsOf(error), changes: noChanges }),
  );
}
