import { ConfigSchema } from '#src/config/schema.js';
import { builtinPlugins } from '#src/engine/pipeline/load/listed-plugins.js';
import { builtinFolder } from '#src/engine/pipeline/load/import/resolve.js';
import { isRecord } from '#src/kit/schema/record.js';

/** What a schema says of a key. */
export interface Fact {
  readonly words: string | undefined;
  readonly initial: unknown;
  /** Value that the reference config shows: the first of `examples`, else the default. */
  readonly shown: unknown;
}

export type Facts = ReadonlyMap<string, Fact>;

/**
 * Facts on every key of a config, by path: `listen.port`, `slots.weight`; options of built-ins are below their name:
 * `stage auth.anonymous`, `upstream chat.preset`, `account oauth.tokenUrl`.
 */
export async function factsOfConfig(): Promise<Facts> {
  const facts = new Map<string, Fact>();
  collect(ConfigSchema, '', facts);
  for (const { kind, use, options } of await builtinPlugins({ baseDir: '.', builtins: builtinFolder }))
    collect(options, `${kind} ${use}`, facts);
  return facts;
}

function collect(schema: unknown, path: string, facts: Map<string, Fact>): void {
  if (!isRecord(schema)) return;
  const { properties, items, then } = schema;
  for (const [key, inner] of Object.entries(isRecord(properties) ? properties : {})) {
    const place = path === '' ? key : `${path}.${key}`;
    if (isRecord(inner) && !facts.has(place)) facts.set(place, factOf(inner));
    if (!repeating.has(key)) collect(inner, place, facts);
  }
  collect(items, path, facts);
  collect(then, path, facts);
}

/** Keys below which those around them stand once more. */
const repeating: ReadonlySet<string> = new Set(['not', 'oneOf']);

function factOf({ description, examples, default: initial }: Readonly<Record<string, unknown>>): Fact {
  const [example] = Array.isArray(examples) ? (examples as readonly unknown[]) : [];
  const words = typeof description === 'string' ? description.replaceAll(/\s+/g, ' ') : undefined;
  return { words, initial, shown: example ?? initial };
}
