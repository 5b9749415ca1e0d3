import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { eventually } from '../eventually.js';

const folder = 'config/observability';

/** Runs promtool; returns its exit code with all that it says. */
export function promtool(
  args: readonly string[],
  input = '',
): { readonly code: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(process.env['GW_TEST_PROMTOOL'] ?? 'promtool', [...args], {
    input,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { code: status, text: `${stdout}${stderr}` };
}

/** One value of an instant query. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Prometheus {
  /** Series that an instant query finds. */
  query(expression: string): Promise<readonly Sample[]>;
  /** Health and last error of each target. */
  targets(): Promise<readonly { readonly health: string; readonly lastError: string }[]>;
  /** Names of the alert rules that it has loaded, with their health. */
  rules(): Promise<readonly { readonly name: string; readonly health: string }[]>;
  close(): Promise<void>;
}

/** A real Prometheus with the config that ships: only targets, key file and intervals are the test's. */
export async function startPrometheus(targets: readonly string[], key: string): Promise<Prometheus> {
  const home = await mkdtemp(path.join(tmpdir(), 'gw2api-prometheus-'));
  const port = await freePort();
  await writeFile(path.join(home, 'key'), `${key}\n`);
  await writeFile(path.join(home, 'prometheus.yml'), await configFor(targets, home));
  const process = run(home, port);
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok === true);
  const get = async (address: string): Promise<unknown> => {
    const answer = (await (await fetch(`${url}/api/v1/${address}`)).json()) as {
      data?: unknown;
      error?: string;
    };
    if (answer.data === undefined) throw new Error(`${address}: ${answer.error}`);
    return answer.data;
  };
  return {
    async query(expression) {
      const { result } = (await get(`query?query=${encodeURIComponent(expression)}`)) as QueryResult;
      return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    async targets() {
      return ((await get('targets')) as { activeTargets: { health: string; lastError: string }[] })
        .activeTargets;
    },
    async rules() {
      const { groups } = (await get('rules')) as { groups: { rules: { name: string; health: string }[] }[] };
      return groups.flatMap(({ rules }) => rules);
    },
    async close() {
      process.kill('SIGKILL');
      await once(process, 'exit');
      await rm(home, { recursive: true, force: true });
    },
  };
}

interface QueryResult {
  readonly result: readonly {
    readonly metric: Readonly<Record<string, string>>;
    readonly value: [number, string];
  }[];
}

interface ScrapeConfig {
  global: object;
  rule_files: string[];
  scrape_configs: {
    authorization: { credentials_file: string };
    static_configs: { targets: readonly string[] }[];
  }[];
}

async function configFor(targets: readonly string[], home: string): Promise<string> {
  const config = parse(await readFile(path.join(folder, 'prometheus.yml'), 'utf8')) as ScrapeConfig;
  const [scrape] = config.scrape_configs;
  scrape!.static_configs = [{ targets }];
  scrape!.authorization.credentials_file = path.join(home, 'key');
  config.rule_files = config.rule_files.map((file) => path.resolve(folder, file));
  config.global = { scrape_interval: '250ms', scrape_timeout: '250ms', evaluation_interval: '250ms' };
  return stringify(config);
}

function run(home: string, port: number): ChildProcess {
  const args = [
    `--config.file=${home}/prometheus.yml`,
    `--storage.tsdb.path=${home}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=error',
  ];
  return spawn(process.env['GW_TEST_PROMETHEUS'] ?? 'prometheus', args, { stdio: 'ignore' });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  server.close();
  await once(server, 'close');
  return port;
}
