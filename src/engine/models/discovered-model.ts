import type { CatalogModel } from '../../plugin/index.js';
import type { ListedModel } from '../../plugin/upstream/index.js';

/** Entry of a model that the catalog lacks, as far as its upstream describes it. */
export function discoveredModel({ id, maxTokens, contextWindow, thinking }: ListedModel): CatalogModel {
  return {
    id,
    displayName: id,
    upstreamModel: id,
    maxTokens: maxTokens ?? contextWindow ?? unknownMaxTokens,
    ...(contextWindow !== undefined && { contextWindow }),
    forcedToolChoice: true,
    sampling: 'one',
    thinking: thinking ?? 'none',
    webSearch: false,
    aliases: [],
    created: 0,
  };
}

/** Cap that is shown where the upstream names none. */
const unknownMaxTokens = 4096;
