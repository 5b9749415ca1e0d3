import type { Feature, FormatName } from './feature.js';
import { objectsOf, valuesAt, withField } from './paths.js';
import { everywhere, text, type Part } from './places.js';

const mark = 'UNKNOWNMARK';
const field = 'gw_unknown';

/** Feature with a member that no format knows. */
export interface UnknownMember extends Feature {
  readonly path: string;
}

/** An unknown member in each object of the features: one of each place, whatever its indices, and of each type. */
export function unknownMembers(features: readonly Feature[]): readonly UnknownMember[] {
  const known = new Map<string, UnknownMember>();
  for (const { format, body } of features)
    for (const path of objectsOf(body)) {
      const name = placeName(format, body, path);
      if (known.has(name)) continue;
      const changed = withField(body, path, field, mark) as Feature['body']; // a copy
      known.set(name, { name, format, body: changed, path: path === '' ? field : `${path}.${field}` });
    }
  return [...known.values()];
}

export function unknownPart({ path }: UnknownMember): readonly Part[] {
  return [{ of: path, in: everywhere(text('', mark)) }];
}

/** Name of a place of an object: its path without indices, its type, and that of its owner. */
function placeName(format: FormatName, body: unknown, path: string): string {
  const [own] = path === '' ? [body] : valuesAt(body, path);
  const { type = '', role = '' } = Object(own) as { readonly type?: unknown; readonly role?: unknown };
  const place = path.replaceAll(/\d+/g, '');
  return `member of ${format} ${place} ${String(type)}${String(role)}`.trim();
}
