/**
 * Name of an extended result code: `SQLITE_IOERR_WRITE` of 778. One that is unknown has the name of its low byte,
 * which is the primary code (https://sqlite.org/rescode.html).
 */
export function nameOfCode(code: number): string {
  const [primary, ...details] = names[code % 256] ?? ['ERROR'];
  const detail = details[Math.floor(code / 256) - 1];
  return detail === undefined ? `SQLITE_${primary}` : `SQLITE_${primary}_${detail}`;
}

/** Names of primary codes, each with those of its extended codes: 1, 2, … in the second byte. */
const names: Readonly<Record<number, readonly string[]>> = Object.fromEntries(
  [
    '1 ERROR MISSING_COLLSEQ RETRY SNAPSHOT',
    '2 INTERNAL',
    '3 PERM',
    '4 ABORT - ROLLBACK',
    '5 BUSY RECOVERY SNAPSHOT TIMEOUT',
    '6 LOCKED SHAREDCACHE VTAB',
    '7 NOMEM',
    '8 READONLY RECOVERY CANTLOCK ROLLBACK DBMOVED CANTINIT DIRECTORY',
    '9 INTERRUPT',
    '10 IOERR READ SHORT_READ WRITE FSYNC DIR_FSYNC TRUNCATE FSTAT UNLOCK RDLOCK DELETE BLOCKED NOMEM ACCESS ' +
      'CHECKRESERVEDLOCK LOCK CLOSE DIR_CLOSE SHMOPEN SHMSIZE SHMLOCK SHMMAP SEEK DELETE_NOENT MMAP GETTEMPPATH ' +
      'CONVPATH VNODE AUTH BEGIN_ATOMIC COMMIT_ATOMIC ROLLBACK_ATOMIC DATA CORRUPTFS IN_PAGE',
    '11 CORRUPT VTAB SEQUENCE INDEX',
    '12 NOTFOUND',
    '13 FULL',
    '14 CANTOPEN NOTEMPDIR ISDIR FULLPATH CONVPATH DIRTYWAL SYMLINK',
    '15 PROTOCOL',
    '17 SCHEMA',
    '18 TOOBIG',
    '19 CONSTRAINT CHECK COMMITHOOK FOREIGNKEY FUNCTION NOTNULL PRIMARYKEY TRIGGER UNIQUE VTAB ROWID PINNED DATATYPE',
    '20 MISMATCH',
    '21 MISUSE',
    '23 AUTH USER',
    '25 RANGE',
    '26 NOTADB',
  ].map((line) => {
    const [number, ...of] = line.split(' ');
    return [number, of];
  }),
);
