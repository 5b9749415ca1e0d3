import { mkdir, readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Caller, Host, Outcome } from 'gw2api/plugin';

/** A recorded request. */
export interface Recording {
  readonly version: 1;
  readonly atMs: number;
  readonly requestId: string;
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly format: string;
  readonly caller: { readonly kind: Caller['kind']; readonly keyId: string; readonly name: string };
  /** Without those that hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly outcome: Outcome;
  /** The model's events as JSON texts with their choice; absent: not recorded, or too many. */
  readonly answer?: readonly (readonly [choice: number, event: string])[];
}

export interface RecordingsOptions {
  readonly folder: string;
  readonly keepMs: number;
  readonly maxBytes: number;
  /** Max length of a body as JSON. */
  readonly maxBodyChars: number;
  readonly secrets: Host['secrets'];
  readonly now: () => number;
  readonly onResult: (result: RecordingResult, error?: unknown) => void;
}

/** `dropped`: the disk is too slow. */
export type RecordingResult = 'written' | 'too_large' | 'dropped' | 'failed';

/** A folder of encrypted recordings, bounded in size and age: the oldest are deleted first. */
export class Recordings {
  readonly #options: RecordingsOptions;
  readonly #pending = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #unpruned = 0;
  #pruning: Promise<void> = Promise.resolve();

  constructor(options: RecordingsOptions) {
    this.#options = options;
  }

  /** Creates the folder and tries the key. Throws an Error that says what is missing. */
  async open(): Promise<void> {
    const { folder, secrets } = this.#options;
    await secrets.seal(sealName, null);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await this.prune();
    this.#timer = setInterval(() => this.#follow(this.prune()), pruneEveryMs).unref();
  }

  /** Ends once all that was added is written. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
  }

  /** Writes a recording in the background; `onResult` is told what became of it. */
  add(recording: Recording): void {
    const { maxBodyChars, onResult } = this.#options;
    if (JSON.stringify(recording.body).length > maxBodyChars) onResult('too_large');
    else if (this.#pending.size >= maxPending) onResult('dropped');
    else this.#follow(this.#write(recording));
  }

  #follow(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => this.#options.onResult('failed', error))
      .finally(() => this.#pending.delete(done));
    this.#pending.add(done);
  }

  async #write(recording: Recording): Promise<void> {
    const { folder, secrets, maxBytes, onResult } = this.#options;
    const sealed = await secrets.seal(sealName, recording);
    const name = `${recording.atMs}-${sealed.length}-${path.basename(recording.requestId)}${extension}`;
    await writeFile(path.join(folder, name), sealed, { mode: 0o600 });
    onResult('written');
    this.#unpruned += sealed.length;
    if (this.#unpruned >= maxBytes / reserve) await this.prune();
  }

  /** Deletes what is too old, and the oldest of what is too much; several instances may share the folder. */
  prune(): Promise<void> {
    this.#unpruned = 0;
    this.#pruning = this.#pruning.catch(() => undefined).then(() => this.#prune());
    return this.#pruning;
  }

  async #prune(): Promise<void> {
    const { folder, keepMs, maxBytes, now } = this.#options;
    const oldestMs = now() - keepMs;
    let left = maxBytes - maxBytes / reserve;
    for (const { name, atMs, bytes } of (await recordingsIn(folder)).toReversed()) {
      left -= bytes;
      if (left < 0 || atMs < oldestMs) await unlink(path.join(folder, name)).catch(ignoreMissing);
    }
  }
}

/** Reads the recordings of a folder, the oldest first. Throws an Error for one that the key does not open. */
export async function* readRecordings(folder: string, secrets: Host['secrets']): AsyncGenerator<Recording> {
  for (const { name } of await recordingsIn(folder)) {
    const sealed = await readFile(path.join(folder, name), 'utf8').catch(ignoreMissing);
    if (sealed !== undefined) yield (await secrets.open(sealName, sealed)) as Recording; // as `write` sealed it
  }
}

/** Name under which recordings are sealed. */
const sealName = 'a recording';
const extension = '.gwrec';
/** Max recordings on their way to the disk. */
const maxPending = 32;
const pruneEveryMs = 3_600_000;
/** Part of the size that is kept free, so that the folder is listed only after so much has been written. */
const reserve = 16;

interface RecordingFile {
  readonly name: string;
  readonly atMs: number;
  readonly bytes: number;
}

/** Files of a folder by their names, which say their time and size; the oldest first. */
async function recordingsIn(folder: string): Promise<readonly RecordingFile[]> {
  const files = (await readdir(folder)).flatMap((name): readonly RecordingFile[] => {
    const [, atMs, bytes] = /^(\d{1,15})-(\d{1,12})-.*\.gwrec$/.exec(name) ?? [];
    return atMs === undefined ? [] : [{ name, atMs: Number(atMs), bytes: Number(bytes) }];
  });
  return files.toSorted((one, other) => one.atMs - other.atMs);
}

/** Ignores a file that another instance has deleted. */
function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
