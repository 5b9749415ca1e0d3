import type { LedgerRow } from '../plugin/index.js';

/** Cursor of a ledger page: the place of its last row. */
export function writeCursor({ atMs, id }: Pick<LedgerRow, 'atMs' | 'id'>): string {
  return `${atMs}.${id}`;
}

/** Throws a TypeError on what `writeCursor` has not written. */
export function readCursor(cursor: string): Pick<LedgerRow, 'atMs' | 'id'> {
  const [, at, id] = /^(\d{1,15})\.(.+)$/.exec(cursor) ?? [];
  if (at === undefined || id === undefined)
    throw new TypeError('The cursor is not one that a page has ended with.');
  return { atMs: Number(at), id };
}
