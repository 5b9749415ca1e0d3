import type { LedgerRowKey } from '../ledger/contract.js';

/** Cursor of a page of rows or entries: the place of its last one. */
export function writeCursor({ atMs, id }: LedgerRowKey): string {
  return `${atMs}.${id}`;
}

/** Throws a TypeError on a text that `writeCursor` has not written. */
export function readCursor(cursor: string): LedgerRowKey {
  const [, at, id] = /^(\d{1,15})\.(.+)$/.exec(cursor) ?? [];
  if (at === undefined || id === undefined)
    throw new TypeError('The cursor does not come from a previous page.');
  return { atMs: Number(at), id };
}
