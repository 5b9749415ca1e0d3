import type { Checked } from './checked.js';
import type { Source } from './document.js';
import { portErrors } from './sections/listen.js';
import { sectionErrors } from './sections/sections.js';
import { storeFields } from './sections/state.js';
import type { RawConfig } from './schema.js';
import type { RawSlot } from './slots/slot-schema.js';
import { duplicateSlots, slotErrors } from './slots/slots.js';
import { stageErrors } from './stages.js';
import type { Environment } from './environment.js';
import { didYouMean } from '../kit/schema/did-you-mean.js';
import { globMatcher, type CatalogModel } from '../plugin/index.js';
import type { SchemaError } from '../plugin/upstream/index.js';
import type { Config, ConfigProblem, SlotConfig, StageConfig } from './config.js';

/** Rules that a schema cannot express, checked on the parts that are valid. */
export function ruleErrors(
  raw: RawConfig,
  source: Source,
  env: Environment,
  { isValid }: Checked,
): readonly SchemaError[] {
  const slots: readonly (RawSlot | null)[] = Array.isArray(raw.slots) ? raw.slots : [];
  const context = { env, store: isValid(['store']) ? storeFields(raw.store).url : undefined };
  const errors: readonly (readonly SchemaError[])[] = [
    portErrors(env),
    sectionErrors(raw, context, isValid),
    stageErrors(isValid, source),
    slots.flatMap((slot, at) => (slot ? slotErrors(slot, at, isValid) : [])),
    duplicateSlots(
      slots.map((slot) => slot?.id),
      source,
    ),
  ];
  return errors.flat();
}

/** The stages of all pipelines of a config, each once. */
export function allStages({
  pipeline,
  pipelines,
}: Pick<Config, 'pipeline' | 'pipelines'>): readonly StageConfig[] {
  return [...new Set([...pipeline, ...pipelines.flatMap(({ stages }) => stages)])];
}

/** Warnings about names of models that are not in the catalog: allowed, but probably a mistake. */
export function warningsOf(config: Config): readonly ConfigProblem[] {
  const { slots, models } = config;
  const stages = allStages(config).filter(({ enabled }) => enabled);
  const lists = [...stages.flatMap(conditionsOf), ...slots.map(servedBy), ...slots.map(pricedBy)];
  return lists.flatMap(({ names, ...place }) =>
    names.flatMap((name, index) => {
      const message = unknownName(name, models, place.mayBeAlias);
      const key = place.isMap ? `.${name}` : `[${index}]`;
      return message ? [{ at: place.at, path: `${place.path}${key}`, message }] : [];
    }),
  );
}

interface NameList extends Pick<ConfigProblem, 'at' | 'path'> {
  readonly names: readonly string[];
  /** True if the names are the keys of a map. */
  readonly isMap?: boolean;
  /** Aliases and upstream names count as names, too. */
  readonly mayBeAlias?: boolean;
}

function conditionsOf({ when, path, positionOf }: StageConfig): readonly NameList[] {
  return [
    { names: when?.model ?? [], at: positionOf(['when', 'model']), path: `${path}.when.model` },
    {
      names: when?.not?.model ?? [],
      at: positionOf(['when', 'not', 'model']),
      path: `${path}.when.not.model`,
    },
  ];
}

function servedBy({ models, upstreamModels, path, at }: SlotConfig): NameList {
  return { names: models, at, path: `${path}.models`, isMap: upstreamModels !== undefined, mayBeAlias: true };
}

function pricedBy({ prices = {}, path, positionOf }: SlotConfig): NameList {
  return { names: Object.keys(prices), at: positionOf(['price']), path: `${path}.price`, isMap: true };
}

/**
 * Warning about a glob over the catalog's ids, with `anyName` also over aliases and upstream names; undefined if it
 * matches one.
 */
function unknownName(name: string, models: readonly CatalogModel[], anyName = false): string | undefined {
  if (name === '*') return undefined;
  const ids = models.map(({ id }) => id);
  const others = anyName ? models.flatMap(({ aliases, upstreamModel }) => [upstreamModel, ...aliases]) : [];
  if ([...ids, ...others].some(globMatcher([name]))) return undefined;
  if (name.includes('*')) return `"${name}" matches nothing in the catalog`;
  const known = models.find(({ aliases, upstreamModel }) => upstreamModel === name || aliases.includes(name));
  const meant = known?.id ?? didYouMean(name, ids);
  return `"${name}" is not in the catalog${meant ? `; did you mean "${meant}"?` : ''}`;
}
