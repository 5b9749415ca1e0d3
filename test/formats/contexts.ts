import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CatalogModel, FormatContext, StoredResponse } from 'gw2api/plugin';

/** A context whose catalog holds the given models, and whose store the given responses of the key `k1`. */
export function context(
  models: Readonly<Record<string, Partial<CatalogModel>>> = {},
  responses: readonly StoredResponse[] = [],
): FormatContext {
  const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
  const unused = () => Promise.reject(new Error('Decoding reads nothing but responses.'));
  return {
    caller: { kind: 'key', keyId: 'k1', name: 'test' },
    findModel: (id) => (models[id] ? { ...catalogModel(id), ...models[id] } : undefined),
    store: {
      keys: { findByHash: unused, put: unused },
      credentials: { get: unused, put: unused },
      bindings: { get: unused, put: unused, delete: unused },
      responses: {
        get: async (owner, id) => responses.find((stored) => stored.owner === owner && stored.id === id),
        put: unused,
        delete: unused,
      },
      close: unused,
    },
    log: silent,
    now: () => 0,
  };
}

function catalogModel(id: string): CatalogModel {
  return {
    id,
    displayName: id,
    upstreamModel: id,
    maxTokens: 128_000,
    forcedToolChoice: true,
    sampling: true,
    thinking: 'adaptive',
    webSearch: true,
    aliases: [],
    created: 0,
  };
}

const fixtures = join(process.cwd(), '../shared/fixtures');

/** Recorded request bodies of a format by file name; undefined where the recordings are not at hand. */
export function recordedRequests(folder: string): ReadonlyMap<string, unknown> | undefined {
  const path = join(fixtures, folder);
  if (!existsSync(path)) return undefined;
  const names = readdirSync(path).filter((name) => name.endsWith('.json'));
  return new Map(names.map((name) => [name, frozen(JSON.parse(readFileSync(join(path, name), 'utf8')))]));
}

/** The value itself, so deeply frozen that any change of it throws. */
export function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}
