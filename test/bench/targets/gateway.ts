import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { issueKey } from '#src/store/issue-key.js';
import { openStore } from '#src/store/index.js';
import { parse } from 'yaml';
import { paths } from '../load/bodies.js';
import { built, freePort, type Lab } from '../measure/lab.js';
import { scripts } from '../upstream/scripts.js';
import { json, type Target } from './target.js';

export interface GatewaySettings {
  /** Default: SQLite, as in the default config. */
  readonly store?: 'memory';
  /** Whose key the requests carry. Default: a protocol key's, as callers have. */
  readonly key?: 'master';
  readonly workers?: number;
}

/** The gateway as an operator runs it: every stage of the default config, its log to nowhere. */
export async function startGateway(
  lab: Lab,
  upstream: string,
  settings: GatewaySettings = {},
): Promise<Target> {
  const { file, folder, store } = await writeConfig(lab, upstream, settings);
  const key = settings.key === 'master' || settings.store ? masterKey : await keyIn(store);
  const port = await freePort();
  const env = { ...process.env, GW2API_API_KEY: masterKey, HOST: '127.0.0.1', PORT: String(port) };
  const command = [built('server.js'), '--config', file];
  const { child, origin } = await lab.spawnServer(port, lab.node, command, { cwd: folder, env });
  const headers = { ...json, authorization: `Bearer ${key}` };
  return { pid: child.pid ?? 0, origin, address: ({ format }) => ({ path: paths[format], headers }) };
}

const masterKey = 'bench-master-key';

interface Written {
  readonly file: string;
  readonly folder: string;
  /** The SQLite file. */
  readonly store: string;
}

/** The default config with one slot for each script, which the model of a request names. */
async function writeConfig(lab: Lab, upstream: string, settings: GatewaySettings): Promise<Written> {
  const folder = await mkdtemp(join(lab.folder, 'gateway-'));
  const store = join(folder, 'data', 'gateway.db');
  await mkdir(dirname(store), { recursive: true });
  const shipped = parse(await readFile(built('../config/gateway.yaml'), 'utf8')) as object; // a config is one
  const names = Object.keys(scripts);
  await writeFile(join(folder, 'models.yaml'), JSON.stringify({ models: names.map((id) => ({ id })) }));
  const config = {
    ...shipped,
    listen: settings.workers === undefined ? {} : { workers: settings.workers },
    slots: names.map((name) => slotOf(name, upstream)),
    models: './models.yaml',
    store: settings.store ?? `sqlite:${store}`,
  };
  const file = join(folder, 'gateway.yaml');
  await writeFile(file, JSON.stringify(config));
  return { file, folder, store };
}

function slotOf(name: string, upstream: string): object {
  return {
    id: name,
    upstream: 'messages',
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

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
