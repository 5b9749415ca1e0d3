import type { FormatConfig, ConfigProblem, StageConfig } from '../../../config/config.js';
import { didYouMean } from '../../../kit/schema/did-you-mean.js';
import type { Format } from '../../../plugin/index.js';
import { formatKind } from './format-kind.js';
import { loadEntry, type Loading } from './load-plugin.js';
import { placeOf, routeOwner, routeProblems, type RouteOwner } from '../order/route-owners.js';

export interface LoadedFormats {
  readonly formats: readonly Format[];
  /** The formats with their paths, which no stage may bring. */
  readonly owners: readonly RouteOwner[];
  readonly problems: readonly ConfigProblem[];
}

/**
 * Loads the formats of a config, checks their options and that no two share a name or a path, and that no stage waits
 * for a missing format. Returns config errors, never throws them.
 */
export async function loadFormats(
  configs: readonly FormatConfig[],
  stages: readonly StageConfig[],
  where: Loading,
): Promise<LoadedFormats> {
  const attempts = await Promise.all(configs.map((config) => loadFormat(config, where)));
  const owned = attempts.flatMap(({ config, format }) => (format ? [ownedBy(config, format)] : []));
  const isComplete = configs.length > 0 && owned.length === configs.length;
  const names = owned.map(({ format }) => format.name);
  return {
    formats: owned.map(({ format }) => format),
    owners: owned.map(({ owner }) => owner),
    problems: [
      ...attempts.flatMap(({ problems }) => problems),
      ...owned.flatMap((one, at) => clashes(one, owned.slice(0, at))),
      ...(isComplete ? stages.flatMap((stage) => unknownFormats(stage, names)) : []),
    ],
  };
}

interface Owned {
  readonly config: FormatConfig;
  readonly format: Format;
  readonly owner: RouteOwner;
}

function ownedBy(config: FormatConfig, format: Format): Owned {
  return { config, format, owner: routeOwner(config, config.use, format.routes) };
}

async function loadFormat(config: FormatConfig, where: Loading) {
  const entry = { ...config, withPath: ['with'] };
  const { plugin, options, problems } = await loadEntry(formatKind, entry, where);
  return { config, format: plugin && { ...plugin, settings: options }, problems };
}

/** Problems of a format with those above it, and with the paths of the gateway itself. */
function clashes(one: Owned, above: readonly Owned[]): readonly ConfigProblem[] {
  const { at, path, use } = one.config;
  const same = above.find((other) => other.format.name === one.format.name);
  if (!same)
    return routeProblems(
      one.owner,
      above.map(({ owner }) => owner),
    );
  const message = `has the same name, "${one.format.name}", as ${placeOf(same.owner)}; list only one of them`;
  return [{ at, path, subject: use, message }];
}

function unknownFormats({ when, ...stage }: StageConfig, names: readonly string[]): readonly ConfigProblem[] {
  return [
    ...unknownAmong(when?.format, ['when', 'format'], stage, names),
    ...unknownAmong(when?.not?.format, ['when', 'not', 'format'], stage, names),
  ];
}

function unknownAmong(
  formats: readonly string[] = [],
  place: readonly string[],
  { path, positionOf }: Pick<StageConfig, 'path' | 'positionOf'>,
  names: readonly string[],
): readonly ConfigProblem[] {
  return formats.flatMap((name, at) => {
    if (names.includes(name)) return [];
    const meant = didYouMean(name, names);
    const cure = meant ? `; did you mean "${meant}"?` : '';
    const known = names.map((known) => JSON.stringify(known)).join(', ');
    const message = `must be one of ${known}, not ${JSON.stringify(name)}${cure}`;
    return [{ at: positionOf([...place, at]), path: `${path}.${place.join('.')}[${at}]`, message }];
  });
}
