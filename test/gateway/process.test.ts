import { spawn, type ChildProcess } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';

const entry = join(process.cwd(), 'dist', 'server.js');

describe('node dist/server.js', () => {
  let dir: string;
  let child: ChildProcess;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gw2api-'));
  });
  afterEach(async () => {
    child.kill('SIGKILL');
    await rm(dir, { recursive: true });
  });

  /** Starts it on a free port with these lines of a pipeline; gives its URL. */
  async function start(...pipeline: readonly string[]): Promise<string> {
    const lines = ['slots: [{ id: a, upstream: simulator }]', 'pipeline:', ...pipeline];
    await writeFile(join(dir, 'gateway.yaml'), lines.join('\n'));
    child = spawn(process.execPath, [entry, '--config', 'gateway.yaml'], {
      cwd: dir,
      env: { PORT: '0', HOST: '127.0.0.1', GW2API_API_KEY: 'key' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const { url } = await logged('The gateway is listening.');
    return String(url);
  }

  /** The log line with this message. */
  async function logged(message: string): Promise<Readonly<Record<string, unknown>>> {
    for await (const [line] of on(createInterface(child.stdout!), 'line')) {
      const fields = JSON.parse(String(line)) as Record<string, unknown>;
      if (fields['msg'] === message) return fields;
    }
    return expect.fail();
  }

  it('outlives a plugin that loses an error', async () => {
    await writeFile(
      join(dir, 'loses.mjs'),
      `export default () => (ctx, next) => { Promise.reject(new Error('lost')); return next(); };`,
    );
    const url = await start('  - use: auth', '  - use: ./loses.mjs', ...answering);
    const lost = logged('Nobody has caught this error; a stage may lack an await.');
    const answer = await fetch(`${url}/v1/models`, { headers: { 'x-api-key': 'key' } });
    expect(answer.status).to.equal(200);
    expect(await lost).to.have.nested.property('err.message', 'lost');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
  });
});

const answering = ['body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'].map(
  (use) => `  - use: ${use}`,
);
