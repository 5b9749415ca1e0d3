import { UsageError } from '../gateway/start-failure.js';
import { isLoopback } from '../plugin/index.js';
import { signingKey } from '../plugin/remote/index.js';
import { align } from '../engine/pipeline/run/describe.js';
import { runChecks, type CheckResult } from './test-remote/run-checks.js';

export interface RemoteOptions {
  readonly secret?: string | undefined;
  /** Allows `http:` beyond the own machine. */
  readonly isInsecure: boolean;
  readonly isJson: boolean;
}

/** Checks a server of remote stages. Throws a UsageError for an address or a secret that it cannot use. */
export async function testRemote(
  address: string | undefined,
  { secret, isInsecure, isJson }: RemoteOptions,
): Promise<{ readonly text: string; readonly exitCode: 0 | 1 }> {
  const url = addressOf(address, isInsecure);
  const key = secret === undefined ? undefined : keyOf(secret);
  const checks = await runChecks({ url, key });
  const report: Report = { url: shown(url), isSigned: key !== undefined, checks };
  const text = isJson ? jsonReport(report) : textReport(report);
  return { text, exitCode: countOf(checks, 'failed') > 0 ? 1 : 0 };
}

function addressOf(address: string | undefined, isInsecure: boolean): URL {
  if (address === undefined) throw new UsageError('The address is missing: gw2api test-remote URL.');
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError(`"${address}" is not an address such as https://dlp.example/check.`);
  if (url.username || url.password)
    throw new UsageError('The address has a user or a password, which a remote stage never sends.');
  if (url.protocol === 'http:' && !isInsecure && !isLoopback(url.hostname))
    throw new UsageError('http:// is allowed only for loopback addresses; use https://, or add --insecure.');
  return url;
}

function keyOf(secret: string): Buffer {
  const key = signingKey(secret);
  if (key.length === 0) throw new UsageError('--secret is empty; without it no question is signed.');
  return key;
}

/** Address without a password and a query. */
function shown({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

interface Report {
  readonly url: string;
  readonly isSigned: boolean;
  readonly checks: readonly CheckResult[];
}

function countOf(checks: readonly CheckResult[], result: CheckResult['result']): number {
  return checks.filter((check) => check.result === result).length;
}

function jsonReport({ url, isSigned, checks }: Report): string {
  const [passed, failed, skipped] = (['passed', 'failed', 'skipped'] as const).map((result) =>
    countOf(checks, result),
  );
  return `${JSON.stringify({ url, signed: isSigned, passed, failed, skipped, checks }, null, 2)}\n`;
}

function textReport({ url, isSigned, checks }: Report): string {
  const ran = checks.filter(({ result }) => result !== 'skipped');
  const rows = align(
    ran.map(({ name, rule, result, ms }) => [
      result === 'passed' ? 'ok' : 'FAILED',
      name,
      `${rule} (${ms} ms)`,
    ]),
  );
  const lines = ran.flatMap(({ result, reason }, at) => [
    rows[at] ?? '',
    ...(result === 'failed' ? [`    ${reason}`] : []),
  ]);
  const counts = (['passed', 'failed', 'skipped'] as const)
    .map((result) => [countOf(checks, result), result === 'skipped' ? 'left out' : result] as const)
    .filter(([count]) => count > 0)
    .map((parts) => parts.join(' '));
  const note = isSigned ? [] : ['The checks of signatures were left out, as they need --secret.'];
  return [url, ...lines, '', counts.join(', '), ...note, ''].join('\n');
}
