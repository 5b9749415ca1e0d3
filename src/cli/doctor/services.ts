import { createServer } from 'node:net';
import { existsSync } from 'node:fs';
import { createCipher } from '../../state/store/credential-cipher.js';
import { openForMaintenance, type MaintainedStore } from '../../state/store/maintenance.js';
import { defaultConnections } from '../../state/store/sql/postgres/places.js';
import {
  readableState,
  serverFindings,
  type ServerState,
} from '../../state/store/sql/postgres/postgres-server.js';
import { createLogger } from '../../gateway/telemetry/logs.js';
import { counted } from '../../kit/plural.js';
import { listenProblem } from '../../gateway/start-failure.js';
import { finding, type Finding, type Patient } from './finding.js';
import { workersOf } from './machine.js';

/** Clocks of other machines by their names, unix milliseconds. */
export type Clocks = Map<string, number>;

/** The address, which is bound for a moment; a running gateway there is not a problem. */
export async function port({ config: { listen } }: Patient): Promise<Finding> {
  const { host, port: number } = listen;
  const error = await bindOnce(host, number);
  if (!error) return finding('port', `${host}:${number} is free`);
  if (error.code === 'EADDRINUSE' && (await isGateway(number)))
    return finding('port', '', {
      warning: `a gateway answers on ${number} already: a second one needs another port`,
    });
  return finding('port', '', { problem: listenProblem(error, listen).message });
}

function bindOnce(host: string, number: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port: number, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

async function isGateway(number: number): Promise<boolean> {
  const signal = AbortSignal.timeout(healthMs);
  return fetch(`http://127.0.0.1:${number}/health`, { signal, redirect: 'error' })
    .then((response) => response.ok && (response.headers.get('content-type') ?? '').includes('json'))
    .catch(() => false);
}

const healthMs = 5000;

/** The store, its tables, and the credentials in it. */
export async function store(patient: Patient, clocks: Clocks): Promise<readonly Finding[]> {
  const { store: settings } = patient.config;
  if (settings.kind === 'memory')
    return [finding('store', '', { warning: 'memory: keys and the ledger are lost when the process ends' })];
  if (settings.kind === 'sqlite' && !existsSync(settings.file))
    return [finding('store', `${settings.file} will be created at the start`)];
  const opened = await openForMaintenance(settings, { log: createLogger('silent'), isReadOnly: true });
  try {
    const where = settings.kind === 'sqlite' ? settings.file : 'PostgreSQL';
    const clockMs = await opened.clockMs();
    if (clockMs !== undefined) clocks.set(where, clockMs);
    const server = await opened.server();
    const found = server ? [...(await database(server, opened, where)), connections(server, patient)] : [];
    if (found.some(({ state }) => state === 'problem')) return found;
    return [...found, await tables(opened, where), ...(await credentials(opened, patient))];
  } finally {
    await opened.close();
  }
}

/** Finding about an obstacle to the use of the database; none if it can be used. */
async function database(
  server: ServerState,
  opened: MaintainedStore,
  where: string,
): Promise<readonly Finding[]> {
  const state = await readableState(server, () => opened.schema());
  const { problem, warning } = serverFindings(server, state);
  const text = problem ?? warning;
  if (text === undefined) return [];
  const sentence = `${where} ${text}`;
  return [finding('store', '', problem === undefined ? { warning: sentence } : { problem: sentence })];
}

/** Remaining connections besides those that this gateway may open. */
function connections(
  { freeConnections: free, maxConnections: max }: ServerState,
  { config }: Patient,
): Finding {
  const processes = workersOf(config);
  const { store } = config;
  const needed = processes * ((store.kind === 'postgres' ? store.pool : undefined) ?? defaultConnections);
  const text = `${free} of ${max} are free`;
  const cure = `${text}, and ${counted(processes, 'process', 'processes')} may open ${needed}: raise max_connections, or lower the pool of \`store:\``;
  return finding('connections', text, { warning: free < needed ? cure : undefined });
}

async function tables(opened: MaintainedStore, where: string): Promise<Finding> {
  const { state, last = '', version = 'that one' } = await opened.schema();
  const texts = {
    empty: `${where} has no tables yet; the start creates them`,
    older: `${where} has tables of an older version (${last}); the start migrates them: make a backup before`,
    current: `${where}, tables ${last}`,
    newer: `${where} was written by a newer version (it has ${last}): use ${version}, or restore a backup`,
  };
  return finding('store', texts[state], { problem: state === 'newer' ? texts.newer : undefined });
}

async function credentials(opened: MaintainedStore, { env }: Patient): Promise<readonly Finding[]> {
  const { state } = await opened.schema();
  if (state === 'empty' || state === 'newer') return [];
  const { current, old, problems } = await opened.sealed(
    createCipher(env['GW_SECRET_KEY'], env['GW_SECRET_KEY_OLD']),
  );
  const [first] = problems;
  const sealed = `${current} under GW_SECRET_KEY`;
  return [
    finding('credentials', sealed, {
      problem: first === undefined ? undefined : `${problems.length} cannot be read: ${first}`,
      warning: old > 0 ? `${sealed}, ${old} under GW_SECRET_KEY_OLD: run gw2api rotate-secret` : undefined,
    }),
  ];
}

/** Redis, if instances share their state. */
export async function live({ config: { live: settings } }: Patient, clocks: Clocks): Promise<Finding> {
  if (settings.kind === 'memory') return finding('live', 'memory');
  const where = `Redis at ${settings.label}`;
  const { probeRedis } = await import('../../state/live/redis/probe.js');
  try {
    const { server, version, clockMs, silent } = await probeRedis(settings);
    clocks.set(where, clockMs);
    const names = [where, settings.directory && `at ${server}`, version && `version ${version}`];
    const text = names.filter(Boolean).join(', ');
    const warning = `${text}; not known by ${silent.join('; ')}`;
    return finding('live', text, { warning: silent.length > 0 ? warning : undefined });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return finding('live', '', {
      warning: `${where} cannot be used (${why}): each instance would serve on its own`,
    });
  }
}
