import path from 'node:path';
import type { Static } from 'typebox';
import { Closed, Described } from '../../kit/schema/type.js';
import { Type } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import type { StoreSettings } from '../../state/store/contract/settings.js';
import { toPostgresAddress } from '../../state/store/sql/postgres/address.js';
import { addressErrors } from '../addresses.js';
import { plainValue } from '../diff/values.js';
import { section, setting, type Section } from './section.js';

/** An address alone, or with the settings of its connections. */
const StoreAddress = Closed({
  url: Described(
    Type.String({ minLength: 1, examples: ['sqlite:./data/gateway.db'] }),
    `The address. A list of hosts (postgres://USER@H1:5432,H2/DATABASE), TLS (?sslmode=verify-full&sslrootcert=FILE) and
      sockets (?host=/FOLDER) are in config/running.md, under "PostgreSQL". Another schema is
      ?options=-c search_path=NAME; the database is in UTF8.`,
  ),
  pool: Described(
    Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, examples: [10] })),
    `Max connections of one process to PostgreSQL: for N processes the server must allow N times as many. If
      it allows fewer, requests share them. 1 to 1000.`,
  ),
});

const Store = Described(
  Type.Unsafe<string | Static<typeof StoreAddress>>({
    type: ['string', 'object'],
    default: 'sqlite:./data/gateway.db',
    if: { type: 'object' },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: StoreAddress,
  }),
  `State that must survive a restart: keys, sticky sessions, credentials, the ledger. sqlite:PATH for one machine (a
    relative path starts at the working directory, as .env does), postgres://USER@HOST/DATABASE for several,
    memory to keep nothing. The address alone is enough: store: sqlite:./data/gateway.db`,
);

type RawStore = Static<typeof Store>;

/** Section `store:`, whose address is split into its parts in the checked config. */
export const store = {
  schema: Store,
  needsRestart: true,
  reloaded: new Set<string>(),
  errors: (raw: RawStore) => storeErrors(raw),
  settle: toStore,
  // An address is one value in the file, whatever has been read from it.
  compared: (settings: StoreSettings, written: unknown) => ({
    raw: settings,
    shown: plainValue(shownStore(settings), written).shown,
  }),
} satisfies Section<typeof Store, StoreSettings>;

/** Section `ledger:`. */
export const ledger = section(
  {
    keepDays: setting(Type.Integer({ minimum: 1, default: 90 }), 'Older rows are deleted.'),
    cacheCauses: setting(
      Type.Boolean({ default: true }),
      `Explains why turns of a session read less from the provider's prompt cache than an earlier turn had left
        there. Keeps keyed hashes of the last prompts in memory, at most 32 MB, no text. False: no causes, and
        nothing is hashed.`,
    ),
    errorTexts: setting(
      Type.Boolean({ default: false }),
      `Keep the first 300 characters of the error of each failed request for 7 days, secrets masked, for admins of
        the console. Off by default, because upstreams quote prompts in their errors: with it on, parts of prompts may be
        in the store.`,
    ),
    spool: setting(
      Type.Optional(Type.String({ minLength: 1, examples: ['./data'] })),
      'Where rows wait while the store is unavailable. Default: beside the SQLite file, else ./data.',
      { settle: (folder, context) => spoolFolder(folder, context.store) },
    ),
  },
  { description: 'One row per request: tokens, times and status, never a body.', needsRestart: true },
);

/** Section `audit:`. */
export const audit = section(
  { keepDays: setting(Type.Integer({ minimum: 1, default: 365 }), 'Older entries are deleted.') },
  {
    description: 'Record of who changed what, in the console and through /admin.',
    needsRestart: true,
  },
);

/**
 * Kind and address of the store: `memory`, `sqlite:PATH` or `postgres://…`. A relative path starts at the
 * working directory, as `.env` does: the folder of a config may be read-only, or replaced by an update of the
 * package.
 */
function toStore(raw: RawStore): StoreSettings {
  const { url, pool } = storeFields(raw);
  if (url === 'memory') return { kind: 'memory' };
  const file = sqliteFile(url);
  if (file !== undefined) return { kind: 'sqlite', file: path.resolve(file) };
  return { kind: 'postgres', url, ...(pool !== undefined && { pool }) };
}

/** Fields of `store:`, which may be its address alone. */
export function storeFields(raw: RawStore): Exclude<RawStore, string> {
  return typeof raw === 'string' ? { url: raw } : raw;
}

/** Folder that holds rows while the store is down; nothing is kept on disk for a store in memory. */
function spoolFolder(folder: string | undefined, url = 'memory'): string | undefined {
  if (url === 'memory') return undefined;
  const file = sqliteFile(url);
  return path.resolve(folder ?? (file === undefined ? 'data' : path.dirname(file)));
}

/** Rules for the address of the store; messages do not repeat it, because it may hold a password. */
export function storeErrors(raw: RawStore): readonly SchemaError[] {
  const at = typeof raw === 'string' ? ['store'] : ['store', 'url'];
  const { url } = storeFields(raw);
  if (/^postgres(ql)?:\/\//.test(url)) {
    const faults = addressErrors(at, url);
    return faults.length > 0 ? faults : messagesOf(at, () => toPostgresAddress(url));
  }
  if (url === 'memory' || sqliteFile(url)) return [];
  const message =
    'must be "sqlite:PATH" (such as sqlite:./data/gateway.db), "postgres://USER@HOST/DATABASE" or "memory"';
  return [{ path: at, message }];
}

/** Address, kind and settings of the store, as written in the file. */
function shownStore(settings: StoreSettings): string | object {
  if (settings.kind === 'memory') return settings.kind;
  if (settings.kind === 'sqlite') return `sqlite:${settings.file}`;
  const { url, pool } = settings;
  return pool === undefined ? url : { url, pool };
}

function sqliteFile(text: string): string | undefined {
  return /^sqlite:(?:\/\/)?(.+)$/.exec(text)?.[1];
}

/** The error that `read` throws; readers of addresses throw no others. */
function messagesOf(at: SchemaError['path'], read: () => unknown): readonly SchemaError[] {
  try {
    read();
    return [];
  } catch (error) {
    return [{ path: at, message: (error as Error).message }];
  }
}
