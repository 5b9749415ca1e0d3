/** Name under which the tokens of a slot are sealed. */
export function tokensOf(slotId: string): string {
  return `the OAuth tokens of slot "${slotId}"`;
}

/** Name under which the settings of a slot are sealed. */
export function settingsOf(id: string): string {
  return `the settings of slot "${id}"`;
}

/** Name under which the account of a slot is sealed. */
export function accountOf(id: string): string {
  return `the account of slot "${id}"`;
}

/** A column of sealed texts, in a table with one row for each `id`. */
export interface SealedColumn {
  readonly table: string;
  readonly id: string;
  readonly column: string;
  /** Name under which the text of a row is sealed. */
  readonly nameOf: (id: string) => string;
}

/** All columns of sealed texts: what a new GW_SECRET_KEY must reseal. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'credentials', id: 'slot_id', column: 'sealed', nameOf: tokensOf },
  { table: 'slots', id: 'id', column: 'settings', nameOf: settingsOf },
  { table: 'slots', id: 'id', column: 'sealed_account', nameOf: accountOf },
];
