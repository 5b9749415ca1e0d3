import { isRecord } from '../../../kit/schema/record.js';
import type { Schema } from './schema-parts.js';

/** Target of a reference within a document; undefined if it is unresolvable, or leads to another document. */
export function targetOf(ref: unknown, root: Schema): unknown {
  if (ref === '#') return root;
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const key of ref.slice(2).split('/')) at = childOf(at, decoded(key));
  return at;
}

/** Key of one step of a reference. */
export function decoded(key: string): string {
  return decodedUri(key).replaceAll('~1', '/').replaceAll('~0', '~');
}

function childOf(parent: unknown, name: string): unknown {
  if (Array.isArray(parent)) return parent[Number(name)];
  return isRecord(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined;
}

function decodedUri(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key; // a literal percent sign
  }
}
