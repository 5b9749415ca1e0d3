import type { Config } from '../../config/config.js';
import { GatewayError } from '../../plugin/index.js';
import { pipelineHolders } from '../../state/keys/pipeline-holders.js';
import type { Store } from '../../state/store/contract/store.js';

/** Max holders that a refusal lists, and max that are looked through for them. */
const maxListed = 10;
const maxRead = 1000;

/**
 * Throws `conflict` with the `holders`, if keys or teams name a pipeline that the next config lacks and the one in
 * force has.
 */
export async function refuseLostPipelines(
  before: Pick<Config, 'pipelines'>,
  after: Pick<Config, 'pipelines'>,
  store: Pick<Store, 'keys' | 'teams'>,
): Promise<void> {
  const names = after.pipelines.map(({ name }) => name);
  const lost = before.pipelines.map(({ name }) => name).filter((name) => !names.includes(name));
  if (lost.length === 0) return;
  const found = await pipelineHolders(store, names, maxRead);
  const holders = found.filter(({ pipeline }) => lost.includes(pipeline)).slice(0, maxListed);
  if (holders.length === 0) return;
  const texts = holders.map(
    ({ kind, name, pipeline }) => `the ${kind} ${JSON.stringify(name)} (${pipeline})`,
  );
  throw new GatewayError(
    'conflict',
    `The new config lacks pipelines that keys or teams name: ${texts.join(', ')}. Give these another pipeline first, or keep theirs; the old config stays in force.`,
    { details: { holders: holders.map(({ kind, id, name }) => ({ kind, id, name })) } },
  );
}
