import { didYouMean, globMatcher, type CatalogModel } from '../plugin/index.js';
import type { Config, Problem, SlotConfig, StageConfig } from './config.js';

/** Warnings about names of models that are not in the catalog: allowed, but probably a mistake. */
export function warningsOf({ slots, pipeline, models }: Config): readonly Problem[] {
  const lists = [...pipeline.filter(({ enabled }) => enabled).map(conditionOf), ...slots.map(servedBy)];
  return lists.flatMap(({ names, ...place }) =>
    names.flatMap((name, index) => {
      const message = strangeness(name, models);
      return message ? [{ at: place.at, path: `${place.path}[${index}]`, message }] : [];
    }),
  );
}

interface NameList extends Pick<Problem, 'at' | 'path'> {
  readonly names: readonly string[];
}

function conditionOf(stage: StageConfig): NameList {
  const at = stage.positionOf(['when', 'model']);
  return { names: stage.when?.model ?? [], at, path: `${stage.path}.when.model` };
}

function servedBy({ models, path, at }: SlotConfig): NameList {
  return { names: models, at, path: `${path}.models` };
}

/** Warning about a glob over the catalog's ids; undefined if it matches an id. */
function strangeness(name: string, models: readonly CatalogModel[]): string | undefined {
  if (name === '*') return undefined;
  const ids = models.map(({ id }) => id);
  if (ids.some(globMatcher([name]))) return undefined;
  if (name.includes('*')) return `"${name}" matches nothing in the catalog`;
  const meant = models.find(({ aliases }) => aliases.includes(name))?.id ?? didYouMean(name, ids);
  return `"${name}" is not in the catalog${meant ? `; did you mean "${meant}"?` : ''}`;
}
