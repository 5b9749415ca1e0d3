import type { SlotConfig } from '../config/config.js';
import type { Probe } from '../engine/pipeline/run/pipeline.js';
import { printable } from '../kit/terminal.js';
import { untilAborted } from '../plugin/upstream/index.js';
import type { SlotPool } from '../engine/slots/pool/pool.js';

/** Runs probes, all at once and each within `ms`; a line for each. */
export async function runProbes(
  probes: readonly Probe[],
  until: AbortSignal,
  ms: number,
): Promise<{ readonly lines: readonly string[]; readonly hasPassed: boolean }> {
  const results = await Promise.all(
    probes.map(async ({ name, path, run, secrets }) => {
      const signal = AbortSignal.any([until, AbortSignal.timeout(ms)]);
      const head = `  ${path} "${name}"`;
      try {
        await untilAborted((async () => run())(), signal);
        return { line: `${head}  ok`, hasPassed: true };
      } catch (error) {
        return { line: `${head}  FAILED: ${messageWithout(secrets, error, ms)}`, hasPassed: false };
      }
    }),
  );
  return { lines: results.map(({ line }) => line), hasPassed: results.every(({ hasPassed }) => hasPassed) };
}

/** Probes of the plugins of a slot; none if its tokens are in the store, which may be newer. */
export function slotProbes(config: SlotConfig, pool: SlotPool, signal: AbortSignal): readonly Probe[] {
  const slot = pool.opened.find(({ id }) => id === config.id);
  if (!slot || slot.account.isStored) return [];
  const { upstream, account } = slot.probes(signal);
  const { path } = config;
  const secrets = secretsOf(config);
  return [
    ...(account ? [{ name: slot.accountKind, path: `${path}.account`, run: account, secrets }] : []),
    ...(upstream ? [{ name: config.upstream, path: `${path}.upstream`, run: upstream, secrets }] : []),
  ];
}

/** Texts of a slot that no message may contain: all options, its headers, and the user of its proxy. */
export function secretsOf({ account, with: options, proxy = '', headers }: SlotConfig): readonly string[] {
  const { username = '', password = '' } = proxy ? new URL(proxy) : {};
  return stringsIn([account, options, headers, username, password]);
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/** Error message in one line, without control characters, with secrets redacted. */
export function messageWithout(secrets: readonly string[], error: unknown, ms: number): string {
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  const text = error instanceof Error ? error.message : String(error);
  const message = isLate ? `no answer within ${ms / 1000} s` : text;
  const line = secrets
    .filter((secret) => secret.length > 3)
    .toSorted((a, b) => b.length - a.length)
    .reduce((redacted, secret) => redacted.replaceAll(secret, '***'), message.slice(0, 2000))
    .replaceAll(/\s+/g, ' ');
  return printable(line).slice(0, 300);
}
