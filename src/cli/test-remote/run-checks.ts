import { asError } from '../../kit/time/within.js';
import type { RemoteCheck } from './check.js';
import { CheckFailure } from './check-failure.js';
import { loadChecks } from './checks/loads.js';
import { phaseChecks } from './checks/phases.js';
import { signatureChecks } from './checks/signatures.js';
import { streamChecks } from './checks/streams.js';
import { versionChecks } from './checks/versions.js';
import { RemoteServer, type RemoteTarget } from './remote-server.js';

/** All checks, in the order of their run. */
export const remoteChecks: readonly RemoteCheck[] = [
  ...phaseChecks,
  ...versionChecks,
  ...streamChecks,
  ...loadChecks,
  ...signatureChecks,
];

/** Result of one check. */
export interface CheckResult {
  readonly name: string;
  readonly rule: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  readonly ms: number;
  /** Fault of the server, or the reason why the check was left out. */
  readonly reason?: string;
}

/**
 * Runs checks on a server one by one, in bounded time. Without a key those of signatures are left out; if the first one
 * fails, so are all others.
 */
export async function runChecks(
  target: RemoteTarget,
  checks: readonly RemoteCheck[] = remoteChecks,
): Promise<readonly CheckResult[]> {
  const total = AbortSignal.timeout(totalMs);
  const results: CheckResult[] = [];
  for (const check of checks) {
    const skipped = reasonToSkip(check, target, results[0]);
    const result = skipped === undefined ? await run(check, target, total) : skip(check, skipped);
    results.push(result);
  }
  return results;
}

/** Time for one check. */
const checkMs = 30_000;
/** Time for all of them. */
const totalMs = 240_000;

function reasonToSkip(
  { needsSecret }: RemoteCheck,
  { key }: RemoteTarget,
  first: CheckResult | undefined,
): string | undefined {
  if (first?.result === 'failed') return `the check ${first.name} failed`;
  return needsSecret && !key ? 'it needs --secret' : undefined;
}

function skip({ name, rule }: RemoteCheck, reason: string): CheckResult {
  return { name, rule, result: 'skipped', ms: 0, reason };
}

async function run(check: RemoteCheck, target: RemoteTarget, total: AbortSignal): Promise<CheckResult> {
  const { name, rule } = check;
  const startMs = performance.now();
  const signal = AbortSignal.any([total, AbortSignal.timeout(checkMs)]);
  const server = new RemoteServer(target, signal);
  const done = (rest: Pick<CheckResult, 'result' | 'reason'>): CheckResult => ({
    name,
    rule,
    ms: Math.round(performance.now() - startMs),
    ...rest,
  });
  try {
    signal.throwIfAborted();
    await check.run(server);
    return done({ result: 'passed' });
  } catch (error) {
    const isOurs = !(error instanceof CheckFailure) && !signal.aborted;
    if (isOurs) throw error;
    return done({ result: 'failed', reason: signal.aborted ? lateReason(total) : asError(error).message });
  } finally {
    server.close();
  }
}

function lateReason(total: AbortSignal): string {
  return total.aborted ? `all checks together took ${totalMs / 1000} s` : `it took ${checkMs / 1000} s`;
}
