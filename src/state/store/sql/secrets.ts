import type { Kysely } from 'kysely';
import type { OAuthTokens } from '../../../plugin/upstream/index.js';
import type { Store, StoredSlot } from '../contract/store.js';
import { StoreError } from '../store-error.js';
import type { CredentialCipher } from '../credential-cipher.js';
import type { SlotRecord, Tables } from './tables/tables.js';

/** OAuth tokens, sealed. */
export function sqlCredentials(db: Kysely<Tables>, cipher: CredentialCipher): Store['credentials'] {
  return {
    async get(slotId) {
      const record = await db
        .selectFrom('credentials')
        .select('sealed')
        .where('slot_id', '=', slotId)
        .executeTakeFirst();
      return record && ((await cipher.open(tokensOf(slotId), record.sealed)) as OAuthTokens); // as `put` sealed it
    },
    async put(slotId, tokens) {
      const sealed = await cipher.seal(tokensOf(slotId), tokens);
      await db
        .insertInto('credentials')
        .values({ slot_id: slotId, sealed })
        .onConflict((conflict) => conflict.column('slot_id').doUpdateSet({ sealed }))
        .execute();
    },
    async delete(slotId) {
      const done = await db.deleteFrom('credentials').where('slot_id', '=', slotId).executeTakeFirst();
      return done.numDeletedRows > 0n;
    },
  };
}

/** Slots entered in the console, sealed. One that cannot be opened carries its error and blocks no others. */
export function sqlSlots(db: Kysely<Tables>, cipher: CredentialCipher): Store['slots'] {
  const all = () => db.selectFrom('slots').selectAll();
  const get: Store['slots']['get'] = async (id) => {
    const record = await all().where('id', '=', id).executeTakeFirst();
    return record && fromRecord(record, cipher);
  };
  const put: Store['slots']['put'] = async (slot) => {
    const record = await toRecord(slot, cipher);
    const { id: _, ...rest } = record;
    await db
      .insertInto('slots')
      .values(record)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
      .execute();
  };
  return {
    get,
    put,
    async list() {
      const records = await all().orderBy('id').execute();
      return Promise.all(records.map((record) => fromRecord(record, cipher)));
    },
    async update(id, { settings, account, updatedAtMs }) {
      const changes = {
        updated_at: updatedAtMs,
        ...(settings && { settings: await cipher.seal(settingsOf(id), settings) }),
        ...(account && { sealed_account: await cipher.seal(accountOf(id), account) }),
      };
      const { numUpdatedRows } = await db
        .updateTable('slots')
        .set(changes)
        .where('id', '=', id)
        .executeTakeFirst();
      return numUpdatedRows > 0n ? get(id) : undefined;
    },
    async delete(id) {
      const { numDeletedRows } = await db.deleteFrom('slots').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

async function toRecord(slot: StoredSlot, cipher: CredentialCipher): Promise<SlotRecord> {
  return {
    id: slot.id,
    settings: await cipher.seal(settingsOf(slot.id), slot.settings),
    sealed_account: await cipher.seal(accountOf(slot.id), slot.account),
    created_at: slot.createdAtMs,
    updated_at: slot.updatedAtMs,
  };
}

async function fromRecord(record: SlotRecord, cipher: CredentialCipher): Promise<StoredSlot> {
  const { id, created_at: createdAtMs, updated_at: updatedAtMs } = record;
  try {
    const settings = await cipher.open(settingsOf(id), record.settings);
    const account = await cipher.open(accountOf(id), record.sealed_account);
    const opened = { settings, account } as Pick<StoredSlot, 'settings' | 'account'>; // as `toRecord` sealed them
    return { id, ...opened, createdAtMs, updatedAtMs };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { id, settings: {}, account: {}, createdAtMs, updatedAtMs, problem: error.message };
  }
}

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

/** All columns of sealed texts, which a new GW_SECRET_KEY must reseal. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'credentials', id: 'slot_id', column: 'sealed', nameOf: tokensOf },
  { table: 'slots', id: 'id', column: 'settings', nameOf: settingsOf },
  { table: 'slots', id: 'id', column: 'sealed_account', nameOf: accountOf },
];
