import { defaultPipeline } from '../../plugin/core.js';
import type { Store } from '../store/contract/store.js';

/** Key or team that names a pipeline. */
export interface PipelineHolder {
  readonly kind: 'key' | 'team';
  readonly id: string;
  readonly name: string;
  readonly pipeline: string;
}

/**
 * Keys, neither revoked nor expired, and then teams that name a pipeline which is neither `default` nor one of these
 * names; at most `limit`.
 */
export async function pipelineHolders(
  { keys, teams }: Pick<Store, 'keys' | 'teams'>,
  names: readonly string[],
  limit = 10,
): Promise<readonly PipelineHolder[]> {
  const known = [defaultPipeline, ...names];
  const ofKeys = holders('key', await keys.ofOtherPipelines(known, limit));
  if (ofKeys.length >= limit) return ofKeys;
  return [...ofKeys, ...holders('team', await teams.ofOtherPipelines(known, limit - ofKeys.length))];
}

function holders(
  kind: PipelineHolder['kind'],
  found: readonly { readonly id: string; readonly name: string; readonly pipeline?: string }[],
): readonly PipelineHolder[] {
  return found.flatMap(({ id, name, pipeline }) =>
    pipeline === undefined ? [] : [{ kind, id, name, pipeline }],
  );
}
