import type { Environment } from '../config/environment.js';
import { loadGatewayConfigFile, otherFile } from '../gateway/load-config.js';
import { counted } from '../kit/plural.js';
import { UsageError } from '../gateway/start-failure.js';
import { createCipher } from '../state/store/credential-cipher.js';
import { openForMaintenance } from '../state/store/maintenance.js';
import type { Contents } from '../state/store/sql/sqlite/backup.js';
import { withoutPassword } from '../state/store/sql/postgres/address.js';
import { StoreError } from '../state/store/store-error.js';
import { createLogger } from '../gateway/telemetry/logs.js';

interface CommandResult {
  readonly text: string;
  readonly exitCode: 0;
}

/** Copies the SQLite file of a config to a new file, also while gateways write. Throws a UsageError (exit code 1 or 2). */
export async function backup(
  to: string | undefined,
  config: string,
  env: Environment,
): Promise<CommandResult> {
  const { file } = await sqliteOf(config, env, 'backup');
  const target = given(to, 'backup');
  const { backupSqlite } = await import('../state/store/sql/sqlite/backup.js');
  const contents = await asUsageError(backupSqlite(file, target));
  const lines = [
    `${file} was copied to ${target}: ${contentsText(contents)}; its integrity was checked.`,
    ...(await keyWarnings(target, env)),
    'It does not contain the config file or GW_SECRET_KEY (in .env), without which its credentials cannot be read. Keep both elsewhere.',
  ];
  return { text: `${lines.join('\n')}\n`, exitCode: 0 };
}

/** Puts a backup in the place of the SQLite file of a config. Throws a UsageError (exit code 1 or 2). */
export async function restore(
  from: string | undefined,
  config: string,
  env: Environment,
): Promise<CommandResult> {
  const { file } = await sqliteOf(config, env, 'restore');
  const source = given(from, 'restore');
  const { restoreSqlite } = await import('../state/store/sql/sqlite/restore.js');
  const { contents, kept } = await asUsageError(restoreSqlite(source, file, Date.now()));
  const lines = [
    `${source} was restored to ${file}: ${contentsText(contents)}; its integrity was checked.`,
    ...(kept === undefined ? [] : [`The previous file is kept as ${kept}.`]),
    ...(await keyWarnings(file, env)),
  ];
  return { text: `${lines.join('\n')}\n`, exitCode: 0 };
}

function given(file: string | undefined, command: string): string {
  if (file === undefined) throw new UsageError(`${command} takes a file: gw2api ${command} FILE.`);
  return file;
}

/** Settings of a store that is a file. */
async function sqliteOf(config: string, env: Environment, command: keyof typeof tools) {
  const { store } = await loadGatewayConfigFile(config, env, otherFile);
  if (store.kind === 'sqlite') return store;
  if (store.kind === 'memory')
    throw new UsageError('The config has `store: memory`, which keeps nothing after the gateway ends.');
  throw new UsageError(
    `The store is PostgreSQL: use its own tools.\n\n  ${tools[command](withoutPassword(store.url))}\n`,
  );
}

const tools = {
  backup: (url: string) => `pg_dump --format=custom --file=FILE '${url}'`,
  restore: (url: string) =>
    `pg_restore --clean --if-exists --no-owner --single-transaction --dbname='${url}' FILE`,
};

function contentsText({ bytes, rows: { keys, slots, credentials, ledger }, schema }: Contents): string {
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  const migrated = schema.state === 'older' ? ', of an older version, migrated at the next start' : '';
  const counts = [
    counted(keys, 'key'),
    counted(slots, 'slot'),
    counted(credentials, 'stored token'),
    counted(ledger, 'ledger row'),
  ];
  return `${size} with ${counts.join(', ')}${migrated}`;
}

/** Warnings about texts that GW_SECRET_KEY does not open. */
async function keyWarnings(file: string, env: Environment): Promise<readonly string[]> {
  const store = await openForMaintenance(
    { kind: 'sqlite', file },
    { log: createLogger('silent'), isReadOnly: true },
  );
  try {
    const { problems } = await store.sealed(createCipher(env['GW_SECRET_KEY'], env['GW_SECRET_KEY_OLD']));
    const [first] = problems;
    return first === undefined
      ? []
      : [`warning: ${counted(problems.length, 'encrypted text')} in it cannot be read: ${first}`];
  } finally {
    await store.close();
  }
}

async function asUsageError<Value>(work: Promise<Value>): Promise<Value> {
  return work.catch((error: unknown) => {
    throw error instanceof StoreError ? new UsageError(error.message, 1) : error;
  });
}
