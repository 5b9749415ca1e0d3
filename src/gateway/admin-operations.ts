import type { Operations } from '../admin/operations.js';
import { noChanges } from '../config-diff/index.js';
import { problemsOf } from '../config/config.js';
import type { Gateway } from './gateway.js';
import { withoutTexts } from '../explain/without-texts.js';
import { recordedRequest } from './recorded-request.js';
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
    reload: (options) =>
      gateway.reload(options).then(
        (taken) => ({ problems: [], ...taken }),
        (error: unknown) => ({ problems: problemsOf(error), needsRestart: [], changes: noChanges }),
      ),
    previewReload: () =>
      gateway.previewReload().then(
        (changes) => ({ problems: [], changes }),
        (error: unknown) => ({ problems: problemsOf(error), changes: noChanges }),
      ),
    async explain(read, options) {
      const explanation = await gateway.explanations.explain(read);
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
