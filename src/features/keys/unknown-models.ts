import { globMatcher } from '../../plugin/index.js';
import type { Gateway } from '../../gateway/gateway.js';

/**
 * Models of a key, ids or globs, that neither the catalog nor the list of a slot has: misspelt, or served by a slot that
 * takes any name.
 */
export function unknownModels(
  patterns: readonly string[],
  { runtime, services }: Gateway,
): readonly string[] {
  const served = services.slots.list().flatMap(({ serves }) => serves);
  const listed = served.filter((glob) => glob !== '*');
  const names = runtime.models.list().flatMap(({ id, aliases }) => [id, ...aliases]);
  const isListed = globMatcher(listed);
  return patterns.filter((pattern) => {
    const fits = globMatcher([pattern]);
    return !isListed(pattern) && ![...names, ...listed].some(fits);
  });
}
