import type { PipelineConfig } from '../../../config/config.js';
import { GatewayError, type Caller, type Models } from '../../../plugin/index.js';
import { defaultPipeline } from '../../../plugin/core.js';
import { whenMatcher, type Conditional } from '../order/when.js';

/**
 * Chooser of the pipeline of a request whose caller is known: that of its key, else of its team, else the first one
 * whose conditions hold, else `default`. Throws `forbidden` for a name that no pipeline has.
 */
export function pipelineChooser(
  pipelines: readonly PipelineConfig[],
  models: Models,
): (request: Conditional) => string {
  const names = new Set([defaultPipeline, ...pipelines.map(({ name }) => name)]);
  const conditional = pipelines.flatMap(({ name, when }) => {
    const matches = whenMatcher(when, models);
    return matches ? [{ name, matches }] : [];
  });
  return (request) => {
    const { caller } = request.state as { readonly caller?: Caller }; // by the stages above
    const named = caller?.pipeline;
    if (named === undefined)
      return conditional.find(({ matches }) => matches(request))?.name ?? defaultPipeline;
    if (names.has(named)) return named;
    throw unknownPipeline(named);
  };
}

function unknownPipeline(name: string): GatewayError {
  const message = `The pipeline ${JSON.stringify(name)} of this key is not in the config of the gateway; ask its operator to add it there, or to give the key another one.`;
  return new GatewayError('forbidden', message);
}
