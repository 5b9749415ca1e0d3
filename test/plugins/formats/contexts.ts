import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fakeHost, fakeModels } from '@gw2api/gateway/testing';
import { formatContext, type CatalogModel } from '#src/plugin/index.js';
import type { FormatContext } from '#src/plugin/format/index.js';

/** A context of the caller `k1` whose catalog holds the given models. */
export function contextWith(
  ...models: readonly (Partial<CatalogModel> & { readonly id: string })[]
): FormatContext {
  const host = fakeHost({ models: fakeModels(...models) });
  const state = {
    format: 'chat',
    caller: { kind: 'key', keyId: 'k1', name: 'test' },
    log: host.log,
  } as const;
  return formatContext(host, { state, headers: {}, path: '/', querystring: '' });
}

const fixtures = join(process.cwd(), '../shared/fixtures');

/** Recorded request bodies of a format by file name, frozen; undefined where the recordings are not at hand. */
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
