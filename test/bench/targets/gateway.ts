import type { SpawnOptions } from 'node:child_process';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseDocument, type Document } from 'yaml';
import { paths } from '../load/bodies.js';
import { probeFlags } from '../measure/ask-probe.js';
import { freePort, shipped, type Lab, type Server } from '../measure/lab.js';
import { scripts, type Script } from '../upstream/scripts.js';
import { issueKeys, masterKey, masterKeys } from './issued-keys.js';
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
  /** Entries of the pipeline beside those of the default config, above `slot-pick`. */
  readonly stages?: readonly object[];
  /** Section `telemetry:`; default: none. */
  readonly telemetry?: object;
  /** Starts the process with the probe, which says what it holds and profiles it. */
  readonly isProbed?: boolean;
  /** Folder of V8's compile cache. Default: that of Node. */
  readonly compileCache?: string;
  /** Its standard output is a pipe that is read; else it goes nowhere. */
  readonly isOutputRead?: boolean;
}

/** The builds to measure in processes of their own, by name: this one, and twice that of `--against`. */
export function buildsIn({ against }: Lab): ReadonlyMap<string, string | undefined> {
  const gateway = ['gateway', undefined] as const;
  if (against === undefined) return new Map([gateway]);
  return new Map([['old', against], gateway, ['old again', against]]);
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
  const { checkout, kind = 'messages', stages = [] } = settings;
  const own = {
    ...(stages.length > 0 && { pipeline: await pipelineWith(stages, checkout) }),
    listen: listenOf(settings),
    slots: models.map((model) => slotOf(model, upstream, kind)),
    store: settings.store ?? `sqlite:${store}`,
    ...(settings.telemetry && { telemetry: settings.telemetry }),
  };
  await writeConfig(folder, own, checkout);
  const server = await serve(lab, folder, optionsOf(settings), checkout);
  if (settings.isOutputRead) server.child.stdout?.resume();
  const keys = settings.key === 'master' ? masterKeys : await issueKeys(server);
  return targetAt(server, ({ format, sessions }) => {
    const key = sessions === undefined ? keys.plain : keys.limited;
    return { path: paths[format], headers: { ...json, authorization: `Bearer ${key}` } };
  });
}

function listenOf({ workers, backlog }: GatewaySettings): object {
  return { ...(workers !== undefined && { workers }), ...(backlog !== undefined && { backlog }) };
}

function optionsOf({ isProbed, isOutputRead, compileCache }: GatewaySettings): ServeOptions {
  return {
    ...(isProbed && { flags: probeFlags, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }),
    ...(isOutputRead && { stdio: ['ignore', 'pipe', 'pipe'] }),
    ...(compileCache !== undefined && { env: { NODE_COMPILE_CACHE: compileCache } }),
  };
}

/** Each script is a model of its own, and has a slot of its own. */
const models = Object.keys(scripts);

/** Catalog of the scripts: those whose usage has cache counters have prices. */
const catalog = {
  models: Object.entries<Script>(scripts).map(([id, { cachedTokens }]) => ({
    id,
    ...(cachedTokens && {
      price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite5m: 3.75, cacheWrite1h: 6 },
    }),
  })),
};

/** Writes the default config with these settings in place of its own, and a catalog of the scripts. */
export async function writeConfig(
  folder: string,
  settings: Readonly<Record<string, unknown>>,
  checkout?: string,
): Promise<void> {
  const config = await shippedConfig(checkout);
  for (const [name, value] of Object.entries({ models: './models.yaml', ...settings }))
    config.set(name, config.createNode(value));
  await writeFile(join(folder, 'models.yaml'), JSON.stringify(catalog));
  await writeFile(join(folder, 'gateway.yaml'), String(config));
}

/** The default config as a document: what is written back of it keeps its quotes and their absence. */
export async function shippedConfig(checkout?: string): Promise<Document> {
  return parseDocument(await readFile(shipped('config/gateway.yaml', checkout), 'utf8'));
}

/** The default pipeline with these entries above `slot-pick`. */
export async function pipelineWith(stages: readonly object[], checkout?: string): Promise<readonly object[]> {
  const { pipeline } = (await shippedConfig(checkout)).toJS() as { pipeline: readonly { use: string }[] }; // a config has one
  const at = pipeline.findIndex(({ use }) => use === 'slot-pick');
  return [...pipeline.slice(0, at), ...stages, ...pipeline.slice(at)];
}

/** Starts the gateway of a folder that `writeConfig` has filled. */
export async function serve(
  lab: Lab,
  folder: string,
  { flags = [], env: added, ...options }: ServeOptions = {},
  checkout?: string,
): Promise<Server> {
  const port = await freePort();
  const own = { GW2API_API_KEY: masterKey, HOST: '127.0.0.1', PORT: String(port) };
  const env = { ...process.env, ...own, ...added };
  const server = [shipped('dist/server.js', checkout), '--config', join(folder, 'gateway.yaml')];
  const command = [...lab.gatewayFlags, ...flags, ...server];
  return lab.spawnServer(port, lab.node, command, { cwd: folder, env, ...options });
}

interface ServeOptions extends SpawnOptions {
  /** Flags of Node. */
  readonly flags?: readonly string[];
}

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
