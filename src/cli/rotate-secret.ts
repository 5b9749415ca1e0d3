import type { Config } from '../config/config.js';
import type { Environment } from '../config/environment.js';
import { loadGatewayConfigFile, otherFile } from '../gateway/load-config.js';
import { UsageError } from '../gateway/start-failure.js';
import type { ResealedPart } from '../features/feature.js';
import { features } from '../features/index.js';
import { createCipher, type CredentialCipher } from '../state/store/credential-cipher.js';
import {
  openForMaintenance,
  requireCurrentSchema,
  type MaintainedStore,
} from '../state/store/maintenance.js';
import { StoreError } from '../state/store/store-error.js';
import { createLogger } from '../gateway/telemetry/logs.js';

interface RotationResult {
  readonly text: string;
  /** 1 if an item could not be re-encrypted. */
  readonly exitCode: 0 | 1;
}

/**
 * Re-encrypts with GW_SECRET_KEY the data encrypted with GW_SECRET_KEY_OLD: slots and tokens in the store, and the
 * recordings of this machine. Gateways that have both keys continue to serve; an interrupted run is completed by the
 * next one.
 */
export async function rotateSecret(file: string, env: Environment): Promise<RotationResult> {
  const cipher = cipherOf(env);
  const config = await loadGatewayConfigFile(file, env, otherFile);
  try {
    const parts = [...(await resealStore(config, cipher))];
    for (const { reseal } of features) if (reseal) parts.push(...(await reseal(config, cipher)));
    return report(parts);
  } catch (error) {
    if (error instanceof StoreError) throw new UsageError(error.message, 1);
    throw error;
  }
}

function cipherOf({ GW_SECRET_KEY: key, GW_SECRET_KEY_OLD: old }: Environment): CredentialCipher {
  if (!key || !old)
    throw new UsageError(
      `${key ? 'GW_SECRET_KEY_OLD' : 'GW_SECRET_KEY'} is not set. Set GW_SECRET_KEY to the new key and GW_SECRET_KEY_OLD to the previous one, here and for every instance; config/deploying.md has the steps.`,
    );
  if (key === old) throw new UsageError('GW_SECRET_KEY and GW_SECRET_KEY_OLD are the same key.');
  return createCipher(key, old);
}

async function resealStore(
  { store: settings }: Config,
  cipher: CredentialCipher,
): Promise<readonly ResealedPart[]> {
  if (settings.kind === 'memory') return [];
  const store = await openForMaintenance(settings, { log: createLogger('silent') });
  try {
    await requireCurrentSchema(store);
    const done = await store.reseal(cipher);
    return [{ what: 'store', ...done }, ...(await plugins(store, cipher))];
  } finally {
    await store.close();
  }
}

/** Values that plugins have sealed themselves, under names known only to them. */
async function plugins(store: MaintainedStore, cipher: CredentialCipher): Promise<readonly ResealedPart[]> {
  const { old = '' } = await cipher.keyIds();
  const spaces = await store.pluginValues(old);
  const problems = spaces.map(
    ({ space, count }) =>
      `${count} values of the plugin "${space}" are encrypted with the old key, and only the plugin can re-encrypt them; keep GW_SECRET_KEY_OLD until it has done so.`,
  );
  return problems.length === 0 ? [] : [{ what: 'plugins', resealed: 0, current: 0, problems }];
}

function report(parts: readonly ResealedPart[]): RotationResult {
  const lines = parts.flatMap(({ what, resealed, current, problems }) => [
    `  ${what}: ${resealed} re-encrypted, ${current} now under the new key${problems.length > 0 ? `, ${problems.length} not` : ''}`,
    ...problems.slice(0, maxProblems).map((problem) => `    ${problem}`),
    ...(problems.length > maxProblems ? [`    and ${problems.length - maxProblems} more`] : []),
  ]);
  const isWhole = parts.every(({ problems }) => problems.length === 0);
  const next = isWhole
    ? 'Nothing here uses the old key any more: remove GW_SECRET_KEY_OLD from every instance, and restart them.'
    : 'Keep GW_SECRET_KEY_OLD: some values do not use the new key yet.';
  return { text: [...lines, next, ''].join('\n'), exitCode: isWhole ? 0 : 1 };
}

const maxProblems = 20;
