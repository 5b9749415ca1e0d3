import { chmod, opendir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  makeFolder,
  type Caller,
  type Host,
  type MessagesRequest,
  type Outcome,
  type PlacedExtras,
} from '@gw2api/gateway/plugin';

/** A recorded request, as it stood at the place of the stage that recorded it. */
export interface Recording {
  readonly version: 1;
  readonly atMs: number;
  readonly requestId: string;
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly format: string;
  readonly caller: Pick<Caller, 'kind' | 'keyId' | 'name' | 'pipeline'> & {
    /** Team of the key; absent: none. */
    readonly team?: Pick<NonNullable<Caller['team']>, 'id' | 'name'>;
  };
  /** Headers on the list of headers without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** Stages that the request had passed, top to bottom. */
  readonly passed: readonly string[];
  /** Request in the caller's format; absent if `request` is there. */
  readonly body?: unknown;
  /** Messages request, recorded below format-decode. */
  readonly request?: MessagesRequest;
  /** Extras of `request`, which JSON does not show; absent: none. */
  readonly extras?: readonly PlacedExtras[];
  readonly delivery?: 'stream' | 'whole';
  readonly outcome: Outcome;
  /** The model's events as JSON texts with their choice; absent: not recorded, or too many. */
  readonly answer?: readonly (readonly [choice: number, event: string])[];
}

export interface RecordingsOptions {
  readonly folder: string;
  readonly keepMs: number;
  readonly maxBytes: number;
  /** Max length of a body, or of a request with its extras, as JSON. */
  readonly maxBodyChars: number;
  readonly secrets: Host['secrets'];
  readonly clock: Host['clock'];
  readonly onResult: (result: RecordingResult, error?: unknown) => void;
}

/** `dropped`: the disk is too slow. */
export type RecordingResult = 'written' | 'too_large' | 'dropped' | 'failed';

/** A folder of encrypted recordings, bounded in size and age: the oldest are deleted first. */
export class Recordings {
  readonly #options: RecordingsOptions;
  readonly #pending = new Set<Promise<void>>();
  #pendingChars = 0;
  #cancelTimer: (() => void) | undefined;
  #unpruned = 0;
  #pruning: Promise<void> = Promise.resolve();

  constructor(options: RecordingsOptions) {
    this.#options = options;
  }

  /** Creates the folder, or restricts its permissions. Nothing is written before. */
  async open(): Promise<void> {
    const { folder } = this.#options;
    await makeFolder(folder, 0o700);
    await chmod(folder, 0o700);
    await this.prune();
    this.#pruneLater();
  }

  /** Resolves once all that was added is written. */
  async close(): Promise<void> {
    this.#cancelTimer?.();
    await Promise.all(this.#pending);
  }

  /** Writes a recording in the background; `onResult` gets the outcome. Does nothing before `open`. */
  add(recording: Recording): void {
    if (!this.#cancelTimer) return;
    const { maxBodyChars, onResult } = this.#options;
    const { request, body = request, extras = [] } = recording;
    if (this.#pending.size >= maxPending) {
      onResult('dropped'); // before it is measured, which takes as long as writing it
      return;
    }
    const { length } = JSON.stringify([body, extras]);
    if (length > maxBodyChars) onResult('too_large');
    else this.#addCounted(recording, length + answerChars(recording));
  }

  #addCounted(recording: Recording, chars: number): void {
    if (this.#pendingChars > 0 && this.#pendingChars + chars > maxPendingChars)
      this.#options.onResult('dropped');
    else this.#follow(this.#writeCounted(recording, chars));
  }

  #follow(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => this.#options.onResult('failed', error))
      .finally(() => this.#pending.delete(done));
    this.#pending.add(done);
  }

  async #writeCounted(recording: Recording, chars: number): Promise<void> {
    this.#pendingChars += chars;
    try {
      await this.#write(recording);
    } finally {
      this.#pendingChars -= chars;
    }
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

  /** Deletes expired recordings, and the oldest above the max size; several instances may share the folder. */
  prune(): Promise<void> {
    this.#unpruned = 0;
    this.#pruning = this.#pruning.catch(() => undefined).then(() => this.#prune());
    return this.#pruning;
  }

  #pruneLater(): void {
    this.#cancelTimer = this.#options.clock.setTimer(() => {
      this.#pruneLater();
      this.#follow(this.prune());
    }, pruneEveryMs);
  }

  async #prune(): Promise<void> {
    const { folder, keepMs, maxBytes, clock } = this.#options;
    const oldestMs = clock.now() - keepMs;
    let left = maxBytes - maxBytes / reserve;
    const files: RecordingFile[] = [];
    for await (const file of recordingsIn(folder)) files.push(file);
    for (const { name, atMs, bytes } of files.toSorted((one, other) => other.atMs - one.atMs)) {
      left -= bytes;
      if (left < 0 || atMs < oldestMs) await unlink(path.join(folder, name)).catch(ignoreMissing);
    }
  }
}

/** Throws an Error that names GW_SECRET_KEY where recordings cannot be sealed. */
export async function requireKey(secrets: Host['secrets']): Promise<void> {
  await secrets.seal(sealName, null);
}

/**
 * Reads a recording; undefined if it has been deleted. Throws an Error for one that is damaged, that the key does not
 * open, or of another version.
 */
export async function readRecording(
  folder: string,
  name: string,
  secrets: Pick<Host['secrets'], 'open'>,
): Promise<Recording | undefined> {
  const sealed = await readFile(path.join(folder, name), 'utf8').catch(ignoreMissing);
  if (sealed === undefined) return undefined;
  const recording = (await secrets.open(sealName, sealed)) as Recording; // nobody else can have sealed it
  if (recording.version !== 1) throw new Error('a recording of another version of gw2api');
  return recording;
}

/**
 * Reseals a recording, if another key than `currentKey` has sealed it; true if it has. A reader finds the old file or
 * the new one, never a part of it.
 */
export async function resealRecording(
  folder: string,
  name: string,
  { secrets, currentKey }: { readonly secrets: Host['secrets']; readonly currentKey: string },
): Promise<boolean> {
  const file = path.join(folder, name);
  const sealed = await readFile(file, 'utf8').catch(ignoreMissing);
  if (sealed === undefined || sealed.split('.', 2)[1] === currentKey) return false;
  const text = await secrets.seal(sealName, await secrets.open(sealName, sealed));
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return true;
}

/** Name under which recordings are sealed. */
const sealName = 'a recording';
const extension = '.gwrec';
/** Max recordings that wait for the disk. */
const maxPending = 32;
/** Max characters of their bodies and answers, beside one recording of any size. */
const maxPendingChars = 32 * 1024 * 1024;
const pruneEveryMs = 3_600_000;
/** Part of the size that is kept free, so that the folder is listed only after so much has been written. */
const reserve = 16;

function answerChars({ answer = [] }: Recording): number {
  return answer.reduce((sum, [, event]) => sum + event.length, 0);
}

/** File of a recording, by its name. */
export interface RecordingFile {
  readonly name: string;
  readonly atMs: number;
  readonly bytes: number;
}

/** Recordings of a folder by the names of their files, which contain their time and size; in any order. */
export async function* recordingsIn(folder: string): AsyncGenerator<RecordingFile> {
  for await (const { name } of await opendir(folder)) {
    const [, atMs, bytes] = /^(\d{1,15})-(\d{1,12})-.*\.gwrec$/.exec(name) ?? [];
    if (atMs !== undefined) yield { name, atMs: Number(atMs), bytes: Number(bytes) };
  }
}

/** Ignores a file that another instance has deleted. */
function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
