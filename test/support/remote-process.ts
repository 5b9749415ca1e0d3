import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { eventually } from '../eventually.js';
import { freePort } from '../whole/free-port.js';
import { TempFolders } from '../whole/temp-folders.js';

export const remoteSecret = `whsec_${Buffer.from('a secret of a test, of 32 bytes.').toString('base64')}`;

export const languages = { mjs: process.execPath, py: 'python3' } as const;
export type Language = keyof typeof languages;

/** False without the program that runs a language. */
export function hasLanguage(language: Language): boolean {
  return spawnSync(languages[language], ['--version']).status === 0;
}

/** Text of a reference server. */
export function referenceServer(language: Language): Promise<string> {
  return readFile(path.join('config/examples', `remote.${language}`), 'utf8');
}

export interface RemoteSettings {
  readonly language: Language;
  readonly secret?: string;
}

/** Servers of remote stages, each in a process of its own; `end` kills them. */
export class RemoteProcesses {
  readonly #folders = new TempFolders();
  readonly #children: ChildProcess[] = [];

  /** Starts a server with this source text; returns its address. */
  async start(text: string, { language, secret = remoteSecret }: RemoteSettings): Promise<URL> {
    const folder = await this.#folders.make({ [`server.${language}`]: text });
    const port = await freePort();
    const child = spawn(languages[language], [path.join(folder, `server.${language}`)], {
      env: { PATH: process.env['PATH'], PORT: String(port), REMOTE_SECRET: secret },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#children.push(child);
    let fault = '';
    child.stderr.setEncoding('utf8').on('data', (more: string) => (fault = (fault + more).slice(0, 10_000)));
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`The server has ended: ${fault}`);
      return isListening(port);
    });
    return new URL(`http://127.0.0.1:${port}/check`);
  }

  async end(): Promise<void> {
    for (const child of this.#children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await this.#folders.remove();
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false; // refused: not yet
  } finally {
    socket.destroy();
  }
}
