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
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Error for a SQLite file that cannot be used, with the fix in its message. */
export function cannotOpen(file: string, cause: unknown): StoreError {
  if (isLocked(cause))
    return new StoreError(
      `The SQLite file ${file} is locked by another program; end that program, or name another file.`,
      { cause },
    );
  const why = cause instanceof Error ? cause.message : String(cause);
  const code = codeOf(cause) ?? '';
  const [reason, cure] = faultOf(code, file, why) ?? [why, otherwise];
  const isSaid = reason === why || why === '' || code.startsWith('SQLITE_CANTOPEN');
  const detail = isSaid ? reason : `${reason}: ${why}`;
  return new StoreError(`The SQLite file ${file} cannot be opened (${detail}); ${cure}.`, { cause });
}

const otherwise = 'make its folder writable, or name another file';

type Fault = readonly [reason: string, cure: string];

/** Reason and fix of the common faults. */
function faultOf(code: string, file: string, why: string): Fault | undefined {
  if (code === 'NO_LIBRARY') return [why, 'install it (npm install libsql), or run Node 24.15 or newer'];
  if (code.startsWith('SQLITE_READONLY'))
    return ['it is read-only', 'make it and its folder writable for the user of the gateway'];
  if (code.startsWith('SQLITE_CANTOPEN')) return faults.SQLITE_CANTOPEN;
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
