import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { readConfig, readConfigFile } from '../../config/load.js';
import type { Environment } from '../../config/environment.js';
import { every } from '../../kit/time/clock.js';
import type { Clock } from '../../plugin/index.js';

interface WatchOptions {
  readonly clock: Clock;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** Applies the current config file; does not reject. */
  readonly reload: () => Promise<void>;
}

/**
 * Watch of a config file and the files that it names. Compares their contents every 5 s, so that links may be
 * exchanged, and reloads once two consecutive checks have found the same change.
 */
export class ConfigWatch {
  readonly #file: string;
  readonly #env: Environment;
  #files: readonly string[] = [];
  /** Digest of the contents that were last reloaded, or refused. */
  #taken = '';
  #seen = '';
  #look: Promise<void> | undefined;

  private constructor(file: string, env: Environment) {
    this.#file = file;
    this.#env = env;
  }

  /** Marks the current files as those in force. */
  static async open(file: string, env: Environment): Promise<ConfigWatch> {
    const watch = new ConfigWatch(file, env);
    watch.#taken = await watch.#digest();
    watch.#seen = watch.#taken;
    return watch;
  }

  start({ clock, signal, reload }: WatchOptions): void {
    if (signal.aborted) return;
    const look = (): void => {
      this.#look ??= this.#compare(reload).finally(() => (this.#look = undefined));
    };
    signal.addEventListener('abort', every(clock, intervalMs, look));
  }

  /** Resolves when no check, and no reload by one, is in progress. */
  async settled(): Promise<void> {
    await this.#look;
  }

  async #compare(reload: WatchOptions['reload']): Promise<void> {
    const before = this.#seen;
    this.#seen = await this.#digest();
    if (this.#seen !== before || this.#seen === this.#taken) return;
    this.#taken = this.#seen;
    await reload();
  }

  /** Digest of all contents. After a change of any file, the list of files is read from the config again. */
  async #digest(): Promise<string> {
    const known = await digestOf(this.#files);
    if (known === this.#seen) return known;
    this.#files = await this.#filesNow();
    return digestOf(this.#files);
  }

  async #filesNow(): Promise<readonly string[]> {
    const input = await readConfigFile(this.#file, this.#env).catch(() => undefined); // a reload says why
    if (input) return readConfig(input).files;
    return this.#files.length > 0 ? this.#files : [path.resolve(this.#file)];
  }
}

const intervalMs = 5000;

async function digestOf(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of new Set(files)) hash.update(JSON.stringify([file, await contentOf(file)]));
  return hash.digest('hex');
}

/** Digest of a file's content; always the same one for a file that cannot be read. */
async function contentOf(file: string): Promise<string> {
  try {
    const stats = await stat(file);
    if (!stats.isFile()) return 'no file';
    if (stats.size > maxBytes) return `${stats.size} ${stats.mtimeMs}`;
    return createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code); // of the file system
  }
}

/** Max bytes of a file whose content is compared. */
const maxBytes = 16 * 1024 * 1024;
