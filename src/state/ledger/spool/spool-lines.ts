import { open } from 'node:fs/promises';
import type { AppendedRow } from '../contract.js';

/** Lines of a spool file for some rows. */
export function linesOf(rows: readonly AppendedRow[]): string {
  // Starts with a line break, as a full disk may have cut off the line before.
  return rows.map((row) => `\n${JSON.stringify(row)}`).join('');
}

/**
 * Batches of the rows of a spool file, without the first `skipped`; `size` is called before each batch. None for a
 * missing file, while an ENOENT of the consumer is passed on.
 */
export async function* batchesIn(
  file: string,
  skipped: number,
  size: () => number,
): AsyncGenerator<readonly AppendedRow[]> {
  const handle = await open(file).catch(ignoreMissing);
  if (!handle) return;
  try {
    let batch: AppendedRow[] = [];
    let [left, max] = [skipped, size()];
    for await (const line of handle.readLines({ autoClose: false })) {
      const row = rowIn(line);
      if (!row || (left -= 1) >= 0) continue;
      batch.push(row);
      if (batch.length < max) continue;
      yield batch;
      [batch, max] = [[], size()];
    }
    if (batch.length > 0) yield batch;
  } finally {
    await handle.close();
  }
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

/** Row of a line; undefined if a crash has cut it off. */
function rowIn(line: string): AppendedRow | undefined {
  if (!line.endsWith('}')) return undefined;
  try {
    return JSON.parse(line) as AppendedRow; // as `linesOf` wrote it
  } catch {
    return undefined;
  }
}
