import type { Config, ConfigProblem, EntryMark } from '../config/config.js';
import { priceGaps } from '../state/ledger/cost.js';
import type { Pipeline } from '../engine/pipeline/run/pipeline.js';
import type { StageInfo } from '../engine/pipeline/run/stage-info.js';
import { defaultPipeline } from '../plugin/core.js';
import { globMatcher, type CatalogModel, type KeyLimits, type Logger } from '../plugin/index.js';
import type { Store } from '../state/store/contract/store.js';
import { isRecord } from '../kit/schema/record.js';
import { isNamed } from '../engine/slots/model-names.js';

/** True if a stage of the list counts the budgets of keys and teams. */
export function countsBudgets({ stages }: Pick<Pipeline, 'stages'>): boolean {
  return remaining(stages).some(({ enabled, provides }) => enabled && provides.includes('budgeted'));
}

type ListedStage = StageInfo & { readonly mark?: EntryMark };

/** Stages without those that a named pipeline has removed. */
function remaining(stages: readonly ListedStage[]): readonly ListedStage[] {
  return stages.filter(({ mark }) => mark !== 'removed');
}

/** Sentence about stored budgets that the pipeline does not count; undefined if there are none. */
export async function uncountedBudgets(
  pipeline: Pick<Pipeline, 'stages' | 'pipelines'>,
  { keys, teams }: Pick<Store, 'keys' | 'teams'>,
): Promise<string | undefined> {
  const lacking = uncounting(pipeline);
  if (lacking.length === 0) return undefined;
  const [listed, groups] = await Promise.all([keys.list(), teams.list()]);
  const teamOf = new Map(groups.map((team) => [team.id, team]));
  const isUncounted = (named = defaultPipeline) => lacking.includes(named);
  const names = [
    ...listed
      .filter((key) => key.revokedAtMs === undefined && hasBudget(key))
      .filter(({ pipeline: own, team: id = '' }) => isUncounted(own ?? teamOf.get(id)?.pipeline))
      .map(nameOf('key')),
    ...groups.filter((team) => hasBudget(team) && isUncounted(team.pipeline)).map(nameOf('team')),
  ];
  if (names.length === 0) return undefined;
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  const cure = 'list rate-limit in the pipeline, or remove the budgets';
  return `No stage of the pipeline enforces the budgets of ${names.slice(0, maxNamed).join(', ')}${more}: ${cure}.`;
}

/** Names of the pipelines in which no stage counts budgets. */
function uncounting({ stages, pipelines }: Pick<Pipeline, 'stages' | 'pipelines'>): readonly string[] {
  const lists = [{ name: defaultPipeline, stages }, ...pipelines];
  return lists.filter((list) => !countsBudgets(list)).map(({ name }) => name);
}

/** Problems of stages that give callers budgets that no stage of one of their pipelines counts. */
export function budgetProblems({
  stages,
  pipelines,
  loaded,
}: Pick<Pipeline, 'stages' | 'pipelines' | 'loaded'>): readonly ConfigProblem[] {
  const ofDefault = countsBudgets({ stages }) ? [] : uncountedLimits(stages, loaded);
  const known = new Set(ofDefault.map(({ path }) => path));
  const ofNamed = pipelines
    .filter((pipeline) => !countsBudgets(pipeline))
    .flatMap(({ name, stages: own }) =>
      uncountedLimits(remaining(own), loaded)
        .filter(({ path }) => !known.has(path))
        .map((problem) => ({ ...problem, pipeline: name })),
    );
  return [...ofDefault, ...ofNamed];
}

function uncountedLimits(stages: readonly StageInfo[], loaded: Pipeline['loaded']): readonly ConfigProblem[] {
  const cure = 'no stage of the pipeline enforces it; list rate-limit below, or remove it';
  const paths = new Set(stages.map(({ path }) => path));
  const listed = [...loaded.values()].filter(({ config }) => paths.has(config.path));
  return listed.flatMap(({ config: { path, positionOf }, options }) => {
    const limits = isRecord(options) && options['limits'];
    const option = isRecord(limits) && budgets.find((name) => limits[name] !== undefined);
    if (!option) return [];
    const place = ['with', 'limits', option];
    return [
      { at: positionOf(place), path: `${path}.${place.join('.')}`, message: `is a budget, and ${cure}` },
    ];
  });
}

/** Logs stored budgets that the pipeline does not count; the console shows them as a notice. */
export async function warnOfUncountedBudgets(
  pipeline: Pick<Pipeline, 'stages' | 'pipelines'>,
  { store, log }: { readonly store: Store; readonly log: Logger },
): Promise<void> {
  const uncounted = await uncountedBudgets(pipeline, store).catch(() => undefined); // reported by the store
  if (uncounted !== undefined) log.warn({}, uncounted);
}

const maxNamed = 3;

function nameOf(kind: 'key' | 'team'): (holder: { readonly name: string }) => string {
  return ({ name }) => `the ${kind} ${JSON.stringify(name)}`;
}

/** Warnings about default budgets, which block models that lack a price at every slot. */
export function budgetWarnings(
  config: Config,
  { loaded }: Pick<Pipeline, 'loaded'>,
): readonly ConfigProblem[] {
  const unpriced = config.models.filter((model) => isUnpriced(model, config)).map(({ id }) => `"${id}"`);
  if (unpriced.length === 0) return [];
  const shown = unpriced.slice(0, maxNamed).join(', ');
  const more = unpriced.length > maxNamed ? ` and ${unpriced.length - maxNamed} more` : '';
  return [...loaded.values()].flatMap(({ config: { path, positionOf }, plugin, options }) => {
    const option = isRecord(options) && budgets.find((name) => options[name] !== undefined);
    if (!option || !plugin.provides.includes('budgeted')) return [];
    const message = `keys with this budget cannot use ${shown}${more}, because no slot that serves them has a price for them; set \`price\` with all five prices, in models.yaml or at a slot`;
    return [{ at: positionOf(['with', option]), path: `${path}.with.${option}`, message }];
  });
}

const budgets = ['usdPerDay', 'usdPerMonth'] as const;

/** True for a model that slots serve, each of which lacks one of its prices. */
function isUnpriced(model: CatalogModel, { slots }: Config): boolean {
  const serving = slots.filter(({ models, discovers }) => discovers ?? isNamed(model, globMatcher(models)));
  return serving.length > 0 && serving.every((slot) => priceGaps(model, slot).length > 0);
}

/** True for limits with a budget, under which only requests of known cost are allowed. */
function hasBudget({ usdPerDay, usdPerMonth }: KeyLimits): boolean {
  return usdPerDay !== undefined || usdPerMonth !== undefined;
}
