import type { SpawnOptions } from 'node:child_process';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { issueKey } from '#src/state/keys/keys.js';
import { openStore } from '#src/state/store/index.js';
import { parseDocument, type Document } from 'yaml';
import { paths } from '../load/bodies.js';
import { built, freePort, type Lab, type Server } from '../measure/lab.js';
import { scripts } from '../upstream/scripts.js';
import { json, targetAt, type Target } from './target.js';

export interface GatewaySettings {
  /** Default: SQLite, as in the default config. */
  readonly store?: 'memory';
  /** The SQLite file. Default: a new one. */
  readonly file?: string;
  /** Key of the requests. Default: a protocol key, as callers have. */
  readonly key?: 'master';
  readonly workers?: number;
  readonly backlog?: number;
  /** Folder of another checkout, whose build and default config are used. Default: this one. */
  readonly checkout?: string | undefined;
  /** Kind of upstream of its slots. Default: `messages`. */
  readonly kind?: 'chat';
  /** Section `telemetry:`; default: none. */
  readonly telemetry?: object;
  /** Starts the process with the probe that `heldBy` asks. */
  readonly isProbed?: boolean;
}

/** The builds to measure in processes of their own, by name: this one, and that of `--against`. */
export function buildsIn({ against }: Lab): ReadonlyMap<string, string | undefined> {
  return new Map([['gateway', undefined], ...(against === undefined ? [] : [['old', against] as const])]);
}

/** The gateway as an operator runs it: every stage of the default config, its log to nowhere. */
export async function startGateway(
  lab: Lab,
  upstream: string,
  settings: GatewaySettings = {},
): Promise<Target> {
  const folder = await mkdtemp(join(lab.folder, 'gateway-'));
  const store = settings.file ?? join(folder, 'data', 'gateway.db');
  await mkdir(dirname(store), { recursive: true });
  const { checkout, isProbed = false, kind = 'messages' } = settings;
  const own = {
    listen: listenOf(settings),
    slots: models.map((model) => slotOf(model, upstream, kind)),
    store: settings.store ?? `sqlite:${store}`,
    ...(settings.telemetry && { telemetry: settings.telemetry }),
  };
  await writeConfig(folder, own, checkout);
  const isMaster = settings.key === 'master' || settings.store !== undefined;
  const issued = isMaster || checkout !== undefined ? undefined : await keyIn(store);
  const server = await serve(lab, folder, isProbed ? probed : {}, checkout);
  const key = issued ?? (isMaster ? masterKey : await issuedBy(server));
  const headers = { ...json, authorization: `Bearer ${key}` };
  return targetAt(server, ({ format }) => ({ path: paths[format], headers }));
}

function listenOf({ workers, backlog }: GatewaySettings): object {
  return { ...(workers !== undefined && { workers }), ...(backlog !== undefined && { backlog }) };
}

/** The master key of every gateway that `serve` starts. */
export const masterKey = 'bench-master-key';

/** Each script is a model of its own, and has a slot of its own. */
const models = Object.keys(scripts);

/** Writes the default config with these settings in place of its own, and a catalog of the scripts. */
export async function writeConfig(
  folder: string,
  settings: Readonly<Record<string, unknown>>,
  checkout?: string,
): Promise<void> {
  const config = await shippedConfig(checkout);
  for (const [name, value] of Object.entries({ models: './models.yaml', ...settings }))
    config.set(name, config.createNode(value));
  await writeFile(join(folder, 'models.yaml'), JSON.stringify({ models: models.map((id) => ({ id })) }));
  await writeFile(join(folder, 'gateway.yaml'), String(config));
}

/** The default config as a document: what is written back of it keeps its quotes and their absence. */
export async function shippedConfig(checkout?: string): Promise<Document> {
  return parseDocument(await readFile(built('../config/gateway.yaml', checkout), 'utf8'));
}

/** Starts the gateway of a folder that `writeConfig` has filled. */
export async function serve(
  lab: Lab,
  folder: string,
  { flags = [], ...options }: ServeOptions = {},
  checkout?: string,
): Promise<Server> {
  const port = await freePort();
  const env = { ...process.env, GW2API_API_KEY: masterKey, HOST: '127.0.0.1', PORT: String(port) };
  const server = [built('server.js', checkout), '--config', join(folder, 'gateway.yaml')];
  const command = [...lab.gatewayFlags, ...flags, ...server];
  return lab.spawnServer(port, lab.node, command, { cwd: folder, env, ...options });
}

interface ServeOptions extends SpawnOptions {
  /** Flags of Node. */
  readonly flags?: readonly string[];
}

const probed: ServeOptions = {
  flags: ['--expose-gc', '--import', built('test/bench/measure/memory-probe.js')],
  stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
};

function slotOf(name: string, upstream: string, kind: 'messages' | 'chat'): object {
  return {
    id: name,
    upstream: kind,
    baseUrl: `${upstream}/${name}`,
    account: { kind: 'api-key', key: 'upstream-key' },
    models: [name],
    maxConcurrent: 2000,
  };
}

/** Issues a protocol key before the gateway starts: it needs no console for that. */
async function keyIn(file: string): Promise<string> {
  const store = await openStore({ kind: 'sqlite', file }, { log: silent });
  const { text, key } = issueKey({ name: 'bench' }, Date.now());
  await store.keys.put(key);
  await store.close();
  return text;
}

/** Issues a protocol key by the console's API: another build's store is not opened with ours. */
async function issuedBy({ origin }: Server): Promise<string> {
  const answer = await fetch(`${origin}/api/panel/keys`, {
    method: 'POST',
    headers: { ...json, 'x-api-key': masterKey },
    body: JSON.stringify({ name: 'bench' }),
  });
  if (!answer.ok) throw new Error(`No key was issued: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { key: string }).key; // as the console's API says
}

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
