import type { SchemaError } from '../../plugin/upstream/index.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import type { PipelineConfig } from '../config.js';
import { defaultPipeline } from '../../plugin/core.js';
import type { Path } from '../document.js';
import { headerErrors, lateConditions } from './conditions.js';
import { entryErrors } from './entry-rules.js';
import { changeKeys, isChangeKind, type RawChange, type RawPipeline } from './pipeline-schema.js';

/** Rules of an item of `pipelines:` that a schema cannot express. `isValid`: of a path within the item. */
export function pipelineErrors(
  { when, changes }: Partial<RawPipeline>,
  root: Path,
  isValid: (path: Path) => boolean,
): readonly SchemaError[] {
  const list = Array.isArray(changes) ? changes : [];
  const within = (path: Path) => isValid(path.slice(root.length));
  return [
    ...(isValid(['when']) ? [...headerErrors(when, root), ...lateConditions(when, root)] : []),
    ...list.flatMap((change, index) => {
      const path = [...root, 'changes', index];
      if (typeof change !== 'object' || change === null) return [];
      return [...keyErrors(change, path), ...entryErrors(entriesOf(change, path), within)];
    }),
  ];
}

/** Entries that a change brings, with their paths. */
export function entriesOf({ add, by }: RawChange, path: Path): readonly (readonly [unknown, Path])[] {
  const added: readonly unknown[] = Array.isArray(add) ? add : [];
  return [
    ...added.map((entry, index) => [entry, [...path, 'add', index]] as const),
    ...(by === undefined ? [] : [[by, [...path, 'by']] as const]),
  ];
}

function keyErrors(change: RawChange, path: Path): readonly SchemaError[] {
  const given = Object.keys(change);
  const kinds = given.filter(isChangeKind);
  const [kind, second] = kinds;
  if (kind === undefined || second !== undefined)
    return [
      { path, message: `needs exactly one of ${Object.keys(changeKeys).join(', ')}, which names an entry` },
    ];
  const allowed: readonly string[] = changeKeys[kind];
  const misplaced = given.filter((key) => key !== kind && !allowed.includes(key));
  if (misplaced.length > 0)
    return misplaced.map((key) => ({ path: [...path, key], message: `has no meaning beside "${kind}"` }));
  if (allowed.length === 0 || allowed.some((key) => given.includes(key))) return [];
  return [{ path, message: `needs ${allowed.join(' or ')} beside "${kind}"` }];
}

/** Errors of a name that is taken, and of a pipeline that extends none above it. */
export function nameErrors(
  { name, parent }: { readonly name: string; readonly parent: string },
  root: Path,
  above: readonly PipelineConfig[],
  isValid: (path: Path) => boolean,
): readonly SchemaError[] {
  const names = [defaultPipeline, ...above.map((pipeline) => pipeline.name)];
  const same = above.find((pipeline) => pipeline.name === name);
  const taken = same
    ? `already names ${same.path}`
    : name === defaultPipeline
      ? 'names `pipeline:` itself'
      : '';
  const meant = didYouMean(parent, names);
  const cure = meant ? `did you mean "${meant}"?` : `known: ${names.join(', ')}`;
  return [
    ...(taken === '' ? [] : [{ path: [...root, 'name'], message: `"${name}" ${taken}; take another name` }]),
    ...(names.includes(parent) || !isValid(['extends'])
      ? []
      : [{ path: [...root, 'extends'], message: `"${parent}" is no pipeline above this one; ${cure}` }]),
  ];
}
