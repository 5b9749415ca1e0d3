import { StoreError } from '../../store-error.js';

/** A folder at the path of a SQLite file, or something else that is not a file: a device, a pipe. */
export class NoFileError extends Error {
  readonly code: 'FOLDER' | 'NO_FILE';

  constructor({ isFolder }: { readonly isFolder: boolean }) {
    super();
    this.code = isFolder ? 'FOLDER' : 'NO_FILE';
  }
}

/** True if another connection holds the lock of the file. */
export function isLocked(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_BUSY') ?? false;
}

/** Code of an error of SQLite (`SQLITE_FULL`) or of the system (`EACCES`). */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const [, number] = /^UNKNOWN_SQLITE_ERROR_(\d+)$/.exec(code) ?? openFailure.exec(error.message) ?? [];
  return number === undefined ? code || undefined : primaryCodes[Number(number) % 256];
}

/** Message of libsql, without a code, where a file cannot be opened. */
const openFailure = /^ConnectionFailed\(".*: (\d+)"\)$/;

/** Codes by the low byte of SQLite's extended ones, of which libsql has no names of its own. */
const primaryCodes: Readonly<Record<number, string>> = {
  3: 'SQLITE_PERM',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  19: 'SQLITE_CONSTRAINT',
};

/** Error for a SQLite file that cannot be used, with the cure in its message. */
export function cannotOpen(file: string, cause: unknown): StoreError {
  if (isLocked(cause))
    return new StoreError(
      `The SQLite file ${file} is locked by another program; end that program, or name another file.`,
      { cause },
    );
  const why = cause instanceof Error ? cause.message : String(cause);
  const [reason, cure] = faultOf(codeOf(cause) ?? '', file) ?? [why, otherwise];
  const detail = reason === why || why === '' || openFailure.test(why) ? reason : `${reason}: ${why}`;
  return new StoreError(`The SQLite file ${file} cannot be opened (${detail}); ${cure}.`, { cause });
}

const otherwise = 'make its folder writable, or name another file';

/** Reason and cure of the faults that are common. */
function faultOf(code: string, file: string): readonly [reason: string, cure: string] | undefined {
  if (code.startsWith('SQLITE_READONLY'))
    return ['it is read-only', 'make it and its folder writable for the user of the gateway'];
  if (code.startsWith('SQLITE_FULL')) return faults.ENOSPC;
  if (code === 'FOLDER') return ['it is a folder', `name a file in it, as ${file}/gateway.db`];
  return Object.hasOwn(faults, code) ? faults[code as keyof typeof faults] : undefined;
}

const faults = {
  SQLITE_NOTADB: [
    'it is not a database',
    'name another one, or put a backup in its place: gw2api restore FILE',
  ],
  SQLITE_CANTOPEN: [
    'SQLite may not open it',
    'make it and its folder readable and writable for the user of the gateway',
  ],
  NO_FILE: ['it is a device, a pipe or a socket', 'name a file elsewhere'],
  EACCES: ['permission denied', 'make its folder writable for the user of the gateway, or name another file'],
  EPERM: ['that file system does not accept files of this user', 'name a file elsewhere'],
  ENOENT: ['that file system accepts no new files', 'name a file elsewhere'],
  EROFS: ['the file system is read-only', 'mount it writable, or name a file elsewhere'],
  ENOSPC: ['the disk is full', 'free some space, or name a file elsewhere'],
  EDQUOT: ['the quota of the disk is used up', 'free some space, or name a file elsewhere'],
  EEXIST: ['its folder is a file', 'name another file'],
  ENOTDIR: ['its folder is a file', 'name another file'],
} as const;
