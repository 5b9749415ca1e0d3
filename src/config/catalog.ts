import path from 'node:path';
import { readFileSync } from 'node:fs';
import { packageFile } from '../kit/package-files.js';
import type { CatalogModel } from '../plugin/index.js';
import type { SchemaError } from '../plugin/upstream/index.js';
import { checkSource } from './checked.js';
import type { ConfigProblem } from './config.js';
import { locate, readSource, type Path, type Source } from './document.js';
import { CatalogSchema, type RawModel } from './schema.js';
import { isPrice, type RawSlot } from './slots/slot-schema.js';
import type { Environment, Placeholders } from './environment.js';
import type { Price } from '../plugin/core.js';

/** The catalog shipped with the package, for a config that names none. */
const defaultCatalog = packageFile('config/models.yaml');

export interface Catalog {
  readonly models: readonly CatalogModel[];
  readonly problems: readonly ConfigProblem[];
  /** Absolute paths of its file, and of those that its variables name. */
  readonly files: readonly string[];
}

/**
 * Reads the catalog that a config names. An unreadable file is a problem at the position of its
 * name in the config.
 */
export function readCatalog(
  config: Source,
  name: string | undefined,
  baseDir: string,
  env: Environment,
  placeholders?: Placeholders,
): Catalog {
  const shown = name === undefined ? defaultCatalog : path.join(path.dirname(config.file), name);
  const file = name === undefined ? defaultCatalog : path.resolve(baseDir, name);
  const text = readText(file);
  if (text !== undefined) {
    const source = readSource(text, shown, env, path.dirname(file), placeholders);
    return { ...parseCatalog(source), files: [file, ...(source.files ?? [])] };
  }
  const message = `names ${shown}, which cannot be read; omit it to use the catalog shipped with gw2api`;
  return { models: [], problems: locate([{ path: ['models'], message }], config), files: [file] };
}

/**
 * The text of a file; undefined if it is missing or not readable, the one failure that can be fixed in the
 * config.
 */
function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function parseCatalog(source: Source): Omit<Catalog, 'files'> {
  const { value, errors, isValid } = checkSource(source, CatalogSchema);
  if (!isValid([])) return { models: [], problems: locate([...source.errors, ...errors], source) };
  const { models } = value as { models: readonly RawModel[] }; // `isValid` has been asked
  const wrong = [
    ...duplicates(models, source),
    ...models.flatMap(dateErrors),
    ...models.flatMap(ownPriceErrors),
  ];
  return { models: models.map(toModel), problems: locate(wrong, source) };
}

function toModel({ displayName, upstreamModel, created, ...raw }: RawModel): CatalogModel {
  return {
    ...raw,
    displayName: displayName ?? raw.id,
    upstreamModel: upstreamModel ?? raw.id,
    created: Date.parse(created) / 1000,
  };
}

/** Errors for ids and aliases that name more than one model. */
function duplicates(models: readonly RawModel[], source: Source): readonly SchemaError[] {
  const first = new Map<string, Path>();
  const names = models.flatMap(({ id, aliases }, at) => [
    { name: id, path: ['models', at, 'id'] },
    ...aliases.map((name, index) => ({ name, path: ['models', at, 'aliases', index] })),
  ]);
  return names.flatMap(({ name, path }) => {
    const taken = first.get(name);
    if (!taken) first.set(name, path);
    return taken
      ? [{ path, message: `"${name}" already names a model at line ${source.positionOf(taken).line}` }]
      : [];
  });
}

function ownPriceErrors({ price }: RawModel, index: number): readonly SchemaError[] {
  return price ? priceErrors(['models', index, 'price'], price) : [];
}

function dateErrors({ created }: RawModel, index: number): readonly SchemaError[] {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(created) && !Number.isNaN(Date.parse(created));
  const message = `must be a date such as 2026-01-01, not "${created}"`;
  return isDate ? [] : [{ path: ['models', index, 'created'], message }];
}

/** Rules for a slot's prices: their models are ids, and no globs. */
export function slotPriceErrors({ price }: RawSlot): readonly SchemaError[] {
  if (price === undefined) return [];
  if (isPrice(price)) return priceErrors(['price'], price);
  return Object.entries(price).flatMap(([model, own]) => {
    const path = ['price', model];
    const message = 'must be the id of one model, or * for all others';
    return model.includes('*') && model !== '*' ? [{ path, message }] : priceErrors(path, own);
  });
}

/** Rules for a price: costs are summed in whole pico-USD. */
function priceErrors(path: Path, price: Price): readonly SchemaError[] {
  return Object.entries(price)
    .filter(([, usd]: [string, number]) => Number(usd.toFixed(6)) !== usd)
    .map(([sort]) => ({ path: [...path, sort], message: 'must have at most six decimals' }));
}
