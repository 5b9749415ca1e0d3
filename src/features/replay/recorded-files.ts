import { rm } from 'node:fs/promises';
import path from 'node:path';
import { programUrl } from '../../kit/package-files.js';
import type { Host, MessagesRequest, PlacedExtras } from '../../plugin/index.js';

/** Exports of the built-in stage `record` that this folder uses, since no folder may import it. */
interface RecordingsModule {
  readonly recordingsIn: (folder: string) => AsyncIterable<RecordedFile>;
  readonly readRecording: (
    folder: string,
    name: string,
    secrets: Pick<Host['secrets'], 'open'>,
  ) => Promise<Recording | undefined>;
  readonly resealRecording: (
    folder: string,
    name: string,
    keys: { readonly secrets: Host['secrets']; readonly currentKey: string },
  ) => Promise<boolean>;
}

/** File of a recording. */
export interface RecordedFile {
  readonly name: string;
  readonly atMs: number;
  readonly bytes: number;
}

/** Folder of recordings, of which one at a time is in memory. */
export class RecordedFiles {
  readonly folder: string;
  readonly #module: RecordingsModule;

  private constructor(folder: string, module: RecordingsModule) {
    this.folder = folder;
    this.#module = module;
  }

  static async open(folder: string): Promise<RecordedFiles> {
    const url = programUrl('plugins/shared/recordings.js');
    return new RecordedFiles(folder, (await import(url.href)) as RecordingsModule); // a built-in
  }

  /** The newest `limit` files since a time, the oldest first. Throws if the folder cannot be read. */
  async newest({
    sinceMs,
    limit,
  }: {
    readonly sinceMs: number;
    readonly limit: number;
  }): Promise<NewestFiles> {
    let files: RecordedFile[] = [];
    let leftOut = 0;
    const byTime = (): RecordedFile[] => files.toSorted((one, other) => one.atMs - other.atMs);
    const cut = (): void => {
      leftOut += Math.max(0, files.length - limit);
      files = byTime().slice(-limit);
    };
    for await (const file of this.#module.recordingsIn(this.folder)) {
      if (file.atMs >= sinceMs) files.push(file);
      if (files.length >= limit * 2) cut();
    }
    cut();
    return { files, leftOut };
  }

  /** Reads a recording; undefined if it has been deleted. Throws an Error for one that cannot be read. */
  read(name: string, secrets: Pick<Host['secrets'], 'open'>): Promise<Recording | undefined> {
    return this.#module.readRecording(this.folder, name, secrets);
  }

  /** All recordings, in any order. */
  all(): AsyncIterable<RecordedFile> {
    return this.#module.recordingsIn(this.folder);
  }

  /** Reseals a recording, if another key has sealed it; true if it has. Throws an Error for one that no key opens. */
  reseal(name: string, secrets: Host['secrets'], currentKey: string): Promise<boolean> {
    return this.#module.resealRecording(this.folder, name, { secrets, currentKey });
  }

  /** Deletes the recordings since a time; returns their number. */
  async delete(sinceMs: number): Promise<number> {
    let deleted = 0;
    for await (const { name, atMs } of this.#module.recordingsIn(this.folder)) {
      if (atMs < sinceMs) continue;
      await rm(this.pathOf(name), { force: true });
      deleted += 1;
    }
    return deleted;
  }

  pathOf(name: string): string {
    return path.join(this.folder, name);
  }
}

interface NewestFiles {
  readonly files: readonly RecordedFile[];
  /** Number of older ones above the limit. */
  readonly leftOut: number;
}

/** Parts of a recording that are replayed, as the built-in stage `record` writes it. */
export interface Recording {
  readonly atMs: number;
  readonly requestId: string;
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly format: string;
  readonly caller: {
    readonly kind: string;
    readonly keyId: string;
    readonly name: string;
    /** Team of its key; absent: none, or not recorded. */
    readonly team?: { readonly id: string; readonly name: string };
    /** Pipeline that its key or team named. */
    readonly pipeline?: string;
  };
  readonly headers: Readonly<Record<string, string>>;
  /** Stages that the request had passed. */
  readonly passed: readonly string[];
  /** Request in the caller's format; absent if `request` is there. */
  readonly body?: unknown;
  /** Messages request, recorded below format-decode. */
  readonly request?: MessagesRequest;
  /** Extras of `request`; absent: none. */
  readonly extras?: readonly PlacedExtras[];
  readonly delivery?: 'stream' | 'whole';
}
