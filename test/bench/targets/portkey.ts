import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { paths } from '../load/bodies.js';
import { freePort } from '../measure/lab.js';
import { json, type StartTarget } from './target.js';

/** What is compared: exactly this, so that figures of different days can be. */
const version = '1.15.2';
const folder = join(tmpdir(), `gw2api-bench-portkey-${version}`);
const program = join(folder, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js');

/** Installs Portkey's gateway into a scratch folder that stays for the next run; it is no dependency of ours. */
export async function installPortkey(): Promise<void> {
  if (existsSync(program)) return;
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder];
  await promisify(execFile)('npm', ['install', ...flags, `@portkey-ai/gateway@${version}`], {
    timeout: 120_000,
  });
}

/**
 * Portkey's gateway with nothing switched on. A request names its provider and the provider's address in headers;
 * loopback addresses are trusted by default. It has no Responses route for this provider.
 */
export const startPortkey: StartTarget = async (lab, upstream) => {
  if (!existsSync(program)) return undefined;
  const port = await freePort();
  const env = { ...process.env, NODE_ENV: 'production' };
  const args = [program, '--headless', `--port=${port}`];
  const { child, origin } = await lab.spawnServer(port, lab.node, args, { env });
  return {
    pid: child.pid ?? 0,
    origin,
    address: ({ format, script }) => ({
      path: paths[format],
      headers: {
        ...json,
        authorization: 'Bearer upstream-key',
        'x-portkey-provider': 'anthropic',
        'x-portkey-custom-host': `${upstream}/${script}/v1`,
      },
    }),
  };
};
