import { appendFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import path from 'node:path';

/** File of a folder of recordings that records who has read or deleted them; nothing deletes it. */
const auditFile = 'audit.log';

/** Use of recordings. */
export interface AuditEntry {
  readonly what: 'replay' | 'delete' | 'rotate';
  /** Start of the recordings, unix milliseconds. */
  readonly sinceMs: number;
  /** Config files of a replay. */
  readonly old?: string;
  readonly new?: string;
  /** True for a replay that prints texts. */
  readonly texts?: boolean;
}

/** Adds a line to the audit log of a folder, in the form of the gateway's log. Throws if it cannot be written. */
export async function audit(folder: string, { sinceMs, ...entry }: AuditEntry): Promise<void> {
  const since = sinceMs > 0 ? new Date(sinceMs).toISOString() : undefined;
  const time = new Date().toISOString();
  const line = {
    level: 'info',
    time,
    by: userName(),
    pid: process.pid,
    ...entry,
    since,
    msg: messages[entry.what],
  };
  await appendFile(path.join(folder, auditFile), `${JSON.stringify(line)}\n`, { mode: 0o600 });
}

const messages = {
  replay: 'Recordings were replayed.',
  delete: 'Recordings were deleted.',
  rotate: 'Recordings were re-encrypted.',
} as const satisfies Readonly<Record<AuditEntry['what'], string>>;

/** Name of the user, or the id of one without a name, as in a container. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
