import { extrasOf, Type, type MessagesRequest } from '@gw2api/gateway/plugin';
import { extraKind, extraPath } from '@gw2api/gateway/plugin/upstream';
import type { Dropped } from './dropped.js';

/** Option of a slot for extras that are not passed on otherwise. */
export const extraFieldsOption = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: 100,
    description:
      'Further fields from callers that are passed to the server unchanged, such as service_tier or provider. Other fields that choose a model, a route, a price or objects of the account are not sent. Default: none.',
  }),
);

/** Paths in a server's body of the extras that it takes, by their names in Chat Completions. */
export type ExtraPaths = ReadonlyMap<string, string>;

/** Parses paths from a list of names with their renames: `seed verbosity:text.verbosity`. */
export function extraPaths(names: string): ExtraPaths {
  const entries = names.split(/\s+/).filter((name) => name !== '');
  return new Map(
    entries.map((entry): readonly [string, string] => {
      const [name = '', path = name] = entry.split(':');
      return [name, path];
    }),
  );
}

/** The paths of a slot: those of its server, and the further fields of the slot under their own names. */
export function withExtraFields(paths: ExtraPaths, further: readonly string[] = []): ExtraPaths {
  return new Map([...further.map((name) => [name, name] as const), ...paths]);
}

/**
 * The body with the extras of its request that the server takes; others are reported, as are those that the body
 * already has.
 */
export function withExtraFieldsOf<Body extends object>(
  body: Body,
  request: MessagesRequest,
  paths: ExtraPaths,
  dropped: Dropped,
): Body {
  const own = Object.entries(extrasOf(request));
  let written: object = body;
  for (const [name, value] of own) {
    if (name === 'tool_choice.allowed_tools') continue; // said by the choice, or by the tools
    const path = paths.get(name);
    const next = path === undefined ? undefined : withField(written, path.split('.'), value);
    if (next) written = next;
    else dropped.add(extraPath(name), extraKind(name));
  }
  return written as Body; // fields were added, none was changed
}

/** Copy with a field at a path of at most two names; undefined if there is one already. */
function withField(body: object, [name = '', inner]: readonly string[], value: unknown): object | undefined {
  const known: unknown = Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined; // any object may be read by name
  if (inner === undefined) return known === undefined ? { ...body, ...entry(name, value) } : undefined;
  const outer = typeof known === 'object' && known !== null ? known : {};
  return Object.hasOwn(outer, inner) ? undefined : { ...body, [name]: { ...outer, ...entry(inner, value) } };
}

/** Field of any name, `__proto__` included. */
function entry(name: string, value: unknown): object {
  return Object.fromEntries([[name, value]]);
}
