import { formatProblem, type Config, type ConfigProblem, type StageConfig } from '../config/config.js';
import { allStages } from '../config/rules.js';
import { isGood } from '../state/store/key-rules.js';
import type { Pipeline } from '../engine/pipeline/run/pipeline.js';
import { globMatcher, type Logger, type ProtocolKey } from '../plugin/index.js';
import { isForeign, reservedNames } from '../engine/pipeline/order/caller-patterns.js';
import type { Store } from '../state/store/contract/store.js';

/** Pattern of a `when: { caller }`, with those beside it. */
interface PlacedPattern extends Pick<ConfigProblem, 'at' | 'path'> {
  readonly pattern: string;
  readonly list: readonly string[];
}

/** Warnings about patterns that match no caller of the pipeline's authentication, or none of its tokens. */
export function callerWarnings(
  config: Config,
  { stages }: Pick<Pipeline, 'stages'>,
): readonly ConfigProblem[] {
  const sources = stages.filter(({ enabled, provides }) => enabled && provides.includes('caller'));
  const hasTokens = sources.some(({ use }) => use === 'jwt-auth');
  const isAuthAlone = sources.every(({ use }) => use === 'auth');
  return patternsOf(config).flatMap(({ pattern, list, ...place }) => {
    const fault = isForeign(pattern)
      ? isAuthAlone && 'matches nobody: callers of auth are matched by patterns without ":"'
      : hasTokens && !list.some(isForeign) && !reservedNames.has(pattern) && noToken(pattern);
    return fault ? [{ ...place, message: `"${pattern}" ${fault}` }] : [];
  });
}

function noToken(pattern: string): string {
  return `matches no token of jwt-auth, only keys of the console; add "jwt:${pattern}" to match tokens`;
}

interface Surroundings {
  readonly store: Pick<Store, 'keys'>;
  readonly log: Logger;
  readonly now: () => number;
}

/** Logs ambiguous names of keys in patterns, and patterns that match no key. */
export async function warnOfKeyNames(config: Config, { store, log, now }: Surroundings): Promise<void> {
  const listed = await store.keys.list().catch(() => undefined); // reported by the store
  const keys = listed?.filter((key) => isGood(key, now()));
  if (!keys) return;
  for (const problem of unmatched(config, keys)) log.warn({ path: problem.path }, formatProblem(problem));
  for (const warning of [...reservedOf(keys), ...sharedOf(keys)]) log.warn({}, warning);
}

type Named = Pick<ProtocolKey, 'id' | 'name'>;

function unmatched(config: Config, keys: readonly Named[]): readonly ConfigProblem[] {
  const names = [...reservedNames, ...keys.flatMap(({ id, name }) => [id, name])];
  return patternsOf(config).flatMap(({ pattern, list: _, ...place }) => {
    const fault = isForeign(pattern) ? namesKey(pattern, keys) : matchesNone(pattern, names);
    return fault === undefined ? [] : [{ ...place, message: `"${pattern}" ${fault}` }];
  });
}

function matchesNone(pattern: string, names: readonly string[]): string | undefined {
  if (names.some(globMatcher([pattern]))) return undefined;
  return 'matches no valid key; issue one with this name, or change the pattern';
}

/** Fault of a pattern with `:` that is meant for a key of the console. */
function namesKey(pattern: string, keys: readonly Named[]): string | undefined {
  const key = keys.find(({ name }) => name === pattern);
  return (
    key &&
    `does not match the key of this name, as patterns with ":" never match keys; use its id, "${key.id}"`
  );
}

function reservedOf(keys: readonly Named[]): readonly string[] {
  const found = keys
    .filter(({ name }) => reservedNames.has(name))
    .map(({ id, name }) => `${JSON.stringify(name)} (${id})`);
  if (found.length === 0) return [];
  return [
    `Some keys have names that belong to other callers; rename them: ${shortList(found)}. In \`when: { caller }\` only their ids match them.`,
  ];
}

function sharedOf(keys: readonly Named[]): readonly string[] {
  const idsOf = new Map<string, string[]>();
  for (const { id, name } of keys) {
    const ids = idsOf.get(name) ?? [];
    ids.push(id);
    idsOf.set(name, ids);
  }
  const found = [...idsOf].flatMap(([name, ids]) =>
    ids.length > 1 ? [`${JSON.stringify(name)} (${shortList(ids)})`] : [],
  );
  if (found.length === 0) return [];
  return [
    `Several keys have the same name: ${shortList(found)}. A pattern of \`when: { caller }\` with that name matches all of them.`,
  ];
}

function shortList(texts: readonly string[]): string {
  const more = texts.length > maxShown ? ` and ${texts.length - maxShown} more` : '';
  return `${texts.slice(0, maxShown).join(', ')}${more}`;
}

const maxShown = 3;

/** Patterns of callers in enabled stages and in pipelines, except `*`, which matches everybody. */
function patternsOf(config: Config): readonly PlacedPattern[] {
  const stages = allStages(config).filter(({ enabled }) => enabled);
  return [...stages, ...config.pipelines].flatMap((conditional) => [
    ...placed(conditional, ['when', 'caller'], conditional.when?.caller),
    ...placed(conditional, ['when', 'not', 'caller'], conditional.when?.not?.caller),
  ]);
}

function placed(
  { path, positionOf }: Pick<StageConfig, 'path' | 'positionOf'>,
  place: readonly string[],
  list: readonly string[] = [],
): readonly PlacedPattern[] {
  return list.flatMap((pattern, nth) => {
    if (pattern === '*') return [];
    return [{ pattern, list, at: positionOf([...place, nth]), path: `${path}.${place.join('.')}[${nth}]` }];
  });
}
