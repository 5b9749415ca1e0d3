import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { paths } from '../load/bodies.js';
import { freePort } from '../measure/lab.js';
import { json, targetAt, type StartTarget } from './target.js';

/** Pinned version, so that figures of different days can be compared. */
const version = '1.15.2';
/** Of its HTTP server: from 1.14 on, headers cannot be changed that it changes, and every stream is a 500. */
const serverVersion = '1.13.8';

const folder = join(tmpdir(), `gw2api-bench-portkey-${version}-${serverVersion}`);
const program = join(folder, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js');

export function isPortkeyInstalled(): boolean {
  return existsSync(program);
}

/** Installs Portkey's gateway into a scratch folder that stays for the next run; it is no dependency. */
export async function installPortkey(): Promise<void> {
  if (isPortkeyInstalled()) return;
  await mkdir(folder, { recursive: true });
  const packages = [`@portkey-ai/gateway@${version}`, `@hono/node-server@${serverVersion}`];
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps', '--prefix', folder];
  await promisify(execFile)('npm', ['install', ...flags, ...packages], { cwd: folder, timeout: 120_000 });
}

/**
 * Portkey's gateway with nothing switched on. A request names its provider and the provider's address in
 * headers; loopback addresses are trusted by default. It has no Responses route for this provider.
 */
export const startPortkey: StartTarget = async (lab, upstream) => {
  const port = await freePort();
  const env = { ...process.env, NODE_ENV: 'production' };
  const args = [program, '--headless', `--port=${port}`];
  return targetAt(await lab.spawnServer(port, lab.node, args, { env }), ({ format, script }) => ({
    path: paths[format],
    headers: {
      ...json,
      authorization: 'Bearer upstream-key',
      'x-portkey-provider': 'anthropic',
      'x-portkey-custom-host': `${upstream}/${script}/v1`,
    },
  }));
};
