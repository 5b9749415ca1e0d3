/** All known aliases, in the order of the documentation; the meaning of `listen.aliases: true`. */
export const knownAliases = [
  '/anthropic',
  '/api/anthropic',
  '/openai',
  '/api/v1',
  '/v1/v1',
  '//',
  '/openai/deployments',
  '/healthz',
  '/readyz',
  '/health/liveliness',
  '/health/readiness',
] as const;

/** Pattern of an alias: a path without a query, or a doubled slash. */
export const aliasPattern = String.raw`^(?:\/\/|(?:\/[\w.~-]+)+)$`;

/** The aliases that a config names. */
export function toAliases(aliases: boolean | readonly string[]): readonly string[] {
  if (typeof aliases === 'boolean') return aliases ? knownAliases : [];
  return aliases;
}
