import { Audit } from '../../../state/audit/audit.js';
import { AuditedAction } from '../../../state/audit/audited-action.js';
import type { Config } from '../../../config/config.js';
import { systemClock } from '../../../plugin/index.js';
import type { AuditLog } from '../../../state/store/contract/audit.js';
import { audit, userName, type AuditEntry } from '../audit.js';
import {
  openForMaintenance,
  requireCurrentSchema,
  type MaintainedStore,
} from '../../../state/store/maintenance.js';
import { createLogger } from '../../../gateway/telemetry/logs.js';

/** Use of a folder of recordings. */
export interface RecordingsUse extends AuditEntry {
  readonly what: 'replay' | 'delete';
  readonly folder: string;
  /** Loads the config that names the store. */
  readonly config: () => Promise<Config>;
}

/** Result of a use, and a sentence with the reason for a missing entry in the store. */
export interface AuditedUse<Result> {
  readonly result: Result;
  readonly note?: string;
}

/**
 * Reads or deletes recordings, with a line in the `audit.log` of their folder and an entry in the audit log of the
 * store. Never migrates a store: without the tables of this version it gets no entry.
 */
export async function auditedUse<Result>(
  use: RecordingsUse,
  work: (action: AuditedAction) => Promise<Result>,
): Promise<AuditedUse<Result>> {
  const { folder, config, ...line } = use;
  await audit(folder, line);
  const store = await openCurrent(config).catch((error: Error) => error);
  if (store instanceof Error) return { result: await work(new AuditedAction()), note: noteOf(store, folder) };
  try {
    return await recordedIn(store, use, work);
  } finally {
    await store.close();
  }
}

async function openCurrent(config: () => Promise<Config>): Promise<MaintainedStore> {
  const { store: settings } = await config();
  const store = await openForMaintenance(settings, { log: createLogger('silent') });
  try {
    await requireCurrentSchema(store);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function recordedIn<Result>(
  { audit: log }: MaintainedStore,
  use: RecordingsUse,
  work: (action: AuditedAction) => Promise<Result>,
): Promise<AuditedUse<Result>> {
  let failure: Error | undefined = new Error('The store does not answer.');
  const store: Pick<AuditLog, 'append'> = {
    async append(entries) {
      await log.append(entries).catch((error: Error) => {
        failure = error;
        throw error;
      });
      failure = undefined;
    },
  };
  const entries = new Audit({ store, log: createLogger('silent'), clock: systemClock });
  const { what, folder, sinceMs, ...facts } = use;
  const actor = { kind: 'cli', name: userName() } as const;
  const result = await entries.run({ action: `recordings.${what}`, actor, target: folder }, (action) => {
    const since = sinceMs > 0 ? new Date(sinceMs).toISOString() : undefined;
    action.change(undefined, { old: facts.old, new: facts.new, texts: facts.texts, since });
    return work(action);
  });
  await entries.close();
  return { result, ...(failure && { note: noteOf(failure, folder) }) };
}

function noteOf({ message }: Error, folder: string): string {
  const [reason = ''] = message.split('\n', 1);
  return `No entry in the audit log of the store: ${reason} ${folder} has one in audit.log.`;
}
