import { didYouMean, globMatcher, type CatalogModel } from '../plugin/index.js';
import type { Config, Problem, SlotConfig, StageConfig } from './config.js';

/** What works as it is written and is hardly meant: names of models that are nowhere in the catalog. */
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

function conditionOf({ when, path, positionOf }: StageConfig): NameList {
  return { names: when?.model ?? [], at: positionOf(['when', 'model']), path: `${path}.when.model` };
}

function servedBy({ models, path, at }: SlotConfig): NameList {
  return { names: models, at, path: `${path}.models` };
}

/** What is strange about a glob over the catalog's ids; undefined where it matches one of them. */
function strangeness(name: string, models: readonly CatalogModel[]): string | undefined {
  if (name === '*') return undefined;
  const ids = models.map(({ id }) => id);
  if (ids.some(globMatcher([name]))) return undefined;
  if (name.includes('*')) return `"${name}" matches nothing in the catalog`;
  const meant = models.find(({ aliases }) => aliases.includes(name))?.id ?? didYouMean(name, ids);
  return `"${name}" is not in the catalog${meant ? `; did you mean "${meant}"?` : ''}`;
}
