import type { ChildProcess } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort, shipped, type Lab } from '../measure/lab.js';
import { serve, shippedConfig, writeConfig } from '../targets/gateway.js';

/** The gateway under soak, and what it has said. */
export interface World {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly pid: number;
  readonly log: GatewayLog;
  /** Changes the config and has the gateway read it again. */
  reload(): Promise<void>;
}

/** Reloads and complaints in the gateway's log and standard error. */
export interface GatewayLog {
  reloads: number;
  /** Lines of level error, and all that Node warns of. */
  readonly complaints: string[];
}

/** A gateway over simulators, with time limits that a soak can wait for. */
export async function startWorld(lab: Lab): Promise<World> {
  const upstreams = [await startSimulator(lab), await startSimulator(lab)];
  const folder = join(lab.folder, 'gateway');
  await mkdir(join(folder, 'data'), { recursive: true });
  let slots = upstreams.length * 2;
  await writeSoakConfig(folder, upstreams, slots);
  const { child, origin } = await serve(lab, folder, { stdio: ['ignore', 'pipe', 'pipe'] });
  const log = listenTo(child);
  return {
    origin,
    pid: child.pid ?? 0,
    log,
    async reload() {
      slots = slots === upstreams.length * 2 ? slots + 1 : slots - 1;
      await writeSoakConfig(folder, upstreams, slots);
      child.kill('SIGHUP');
    },
  };
}

async function startSimulator(lab: Lab): Promise<string> {
  const port = await freePort();
  const { origin } = await lab.spawnServer(port, lab.node, [
    shipped('dist/plugins/upstreams/simulator/main.js'),
    '--port',
    String(port),
  ]);
  return origin;
}

async function writeSoakConfig(folder: string, upstreams: readonly string[], slots: number): Promise<void> {
  await writeConfig(folder, {
    pipeline: await impatientStages(),
    slots: Array.from({ length: slots }, (_, at) => ({
      id: `slot-${at}`,
      upstream: 'messages',
      baseUrl: upstreams[at % upstreams.length],
      account: { kind: 'api-key', key: `upstream-key-${at}` },
    })),
    models: shipped('config/models.yaml'),
    store: `sqlite:${join(folder, 'data', 'gateway.db')}`,
  });
}

/** The default config's, with time limits on the upstream that a soak can wait for. */
async function impatientStages(): Promise<readonly object[]> {
  const { pipeline } = (await shippedConfig()).toJS() as { pipeline: readonly { use: string }[] }; // a config has one
  const patience = { headersTimeout: '2s', firstTokenTimeout: '2s', idleTimeout: '2s' };
  return pipeline.map((stage) => (stage.use === 'upstream-call' ? { ...stage, with: patience } : stage));
}

function listenTo({ stdout, stderr }: ChildProcess): GatewayLog {
  const log: GatewayLog = { reloads: 0, complaints: [] };
  if (!stdout || !stderr) throw new Error('The gateway has no output to read.');
  createInterface(stdout).on('line', (line) => {
    if (line.includes('The config was reloaded.')) log.reloads += 1;
    if (/"level":(50|60|"error"|"fatal")/.test(line)) log.complaints.push(line);
  });
  createInterface(stderr).on('line', (line) => log.complaints.push(line));
  return log;
}
