import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, shipped, type Lab } from '../measure/lab.js';
import { pipelineWith, serve, writeConfig } from '../targets/gateway.js';

/** Starts a reference server; returns its address. */
export async function startServer(lab: Lab, language: string, secret: string): Promise<string> {
  const port = await freePort();
  const command = language === 'py' ? 'python3' : lab.node;
  const file = shipped(`config/examples/remote.${language}`);
  const env = { PATH: process.env['PATH'], PORT: String(port), REMOTE_SECRET: secret };
  return (await lab.spawnServer(port, command, [file], { env })).origin;
}

/** Starts a gateway over a simulator, with a remote stage above slot-pick; returns its address. */
export async function startGateway(lab: Lab, remote: URL, secret: string): Promise<string> {
  const port = await freePort();
  const simulator = shipped('dist/plugins/upstreams/simulator/main.js');
  const upstream = await lab.spawnServer(port, lab.node, [simulator, '--port', String(port)]);
  const folder = join(lab.folder, 'gateway');
  await mkdir(join(folder, 'data'), { recursive: true });
  const options = {
    url: remote.href,
    secret,
    on: ['request', 'events'],
    timeout: '5s',
    chunk: { chars: 20 },
  };
  const stage = { use: 'remote', name: 'dlp', onError: 'fail', with: { ...options, lost: 'end' } };
  await writeConfig(folder, {
    pipeline: await pipelineWith([stage]),
    slots: [
      {
        id: 'a',
        upstream: 'messages',
        baseUrl: upstream.origin,
        account: { kind: 'api-key', key: 'k' },
        maxConcurrent: 2000,
      },
    ],
    models: shipped('config/models.yaml'),
    store: 'memory',
  });
  return (await serve(lab, folder)).origin;
}
