import type { Changes } from './changes.js';
import { isType, loosenParts, maxDepth, without, type Schema } from './schema-parts.js';

const bounds = ['minLength', 'maxLength', 'minItems', 'maxItems'] as const;

/** Keywords that a grammar cannot express in any case. */
const never = ['pattern', 'not'] as const;

/** Number of repetitions that llama.cpp refuses. */
const maxRepetitions = 2000;

/**
 * Removes keywords that a grammar cannot express: patterns, negations, and each bound that, multiplied by those of the
 * arrays around it, reaches too many repetitions.
 */
export function fitGrammar(root: Schema, changes: Changes): Schema {
  const fit = (schema: Schema, factor: number, depth: number): Schema => {
    const dropped = [...never, ...bounds.filter((name) => isTooLong(schema[name], factor))];
    const kept = leaveOut(schema, dropped, changes);
    const inner = factor * repetitionsOf(kept);
    return depth < maxDepth ? loosenParts(kept, (part) => fit(part, inner, depth + 1)) : kept;
  };
  return fit(root, 1, 0);
}

/** Removes all keywords that a grammar compiler may reject. */
export function fitMinimalGrammar(root: Schema, changes: Changes): Schema {
  const fit = (schema: Schema, depth: number): Schema => {
    const kept = leaveOut(schema, [...never, ...bounds], changes);
    return depth < maxDepth ? loosenParts(kept, (part) => fit(part, depth + 1)) : kept;
  };
  return fit(root, 0);
}

function isTooLong(bound: unknown, factor: number): boolean {
  return typeof bound === 'number' && (bound + 1) * factor >= maxRepetitions;
}

/** Repetitions of the items of an array; 1 for anything else. */
function repetitionsOf({ type, items, minItems, maxItems }: Schema): number {
  if (!isType(type, 'array') && items === undefined) return 1;
  const most = [minItems, maxItems].filter((bound) => typeof bound === 'number');
  return most.length === 0 ? 1 : Math.max(...most) + 1;
}

function leaveOut(schema: Schema, keywords: readonly string[], changes: Changes): Schema {
  const found = keywords.filter((keyword) => schema[keyword] !== undefined);
  for (const keyword of found) changes.lose(keyword);
  return without(schema, found);
}
