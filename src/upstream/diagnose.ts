import { lookup } from 'node:dns/promises';
import { isGatewayError, type DiagnosisStep, type UpstreamSettings } from '../plugin/index.js';
import type { Flow } from './body.js';
import type { WayOut } from './connections.js';
import { Exchange } from './exchange.js';
import type { Answer } from './failure.js';
import { requestHeaders } from './headers.js';
import { TextBody } from './text-body.js';

export interface Diagnosis {
  readonly settings: UpstreamSettings;
  readonly base: URL;
  /** One that has no connections yet. */
  readonly wayOut: WayOut;
  readonly signal: AbortSignal;
}

const maxMs = 10_000;

/**
 * Resolves the host that the slot connects to (its proxy's, where it has one), connects, and makes one request, all in 10 s;
 * stops at the first step that fails. Any HTTP answer is a good one (contract §7 rule 1).
 */
export async function diagnose({ signal, ...diagnosis }: Diagnosis): Promise<readonly DiagnosisStep[]> {
  const limited = { ...diagnosis, signal: AbortSignal.any([signal, AbortSignal.timeout(maxMs)]) };
  const resolved = await resolve(limited);
  return resolved.ok ? [resolved, ...(await request(limited))] : [resolved];
}

async function resolve({ settings: { proxy }, base, signal }: Diagnosis): Promise<DiagnosisStep> {
  const host = new URL(proxy ?? base).hostname.replaceAll(/[[\]]/g, '');
  const name = proxy ? `the proxy ${host}` : host;
  const startedAtMs = performance.now();
  try {
    const addresses = await before(signal, lookup(host, { all: true }));
    const found = addresses.map(({ address }) => address).join(', ');
    return step('resolve', startedAtMs, `${name} is ${found}`);
  } catch (error) {
    return failedStep('resolve', startedAtMs, error);
  }
}

async function request({ settings, base, wayOut, signal }: Diagnosis): Promise<readonly DiagnosisStep[]> {
  const startedAtMs = performance.now();
  const exchange = new Exchange({
    slot: settings.id,
    method: 'GET',
    path: `${base.pathname}${base.search}`,
    headers: requestHeaders({ call: {}, slot: settings.headers, credential: {} }),
    signal,
    connectTimeoutMs: settings.connectTimeoutMs,
    headersTimeoutMs: maxMs,
    idleTimeoutMs: maxMs,
    read: (_: Answer, flow: Flow) => new TextBody(flow, 1024),
  });
  const through = settings.proxy ? ' through the proxy' : '';
  const connected = (atMs: number) =>
    step('connect', startedAtMs, `connected to ${base.host}${through}`, atMs);
  try {
    const { status } = await exchange.send(wayOut);
    const atMs = exchange.connectedAtMs ?? startedAtMs;
    return [connected(atMs), step('request', atMs, `answered with status ${status}`)];
  } catch (error) {
    const atMs = exchange.connectedAtMs;
    if (atMs === undefined) return [failedStep('connect', startedAtMs, error)];
    return [connected(atMs), failedStep('request', atMs, error)];
  }
}

function step(
  step: DiagnosisStep['step'],
  fromMs: number,
  detail: string,
  toMs = performance.now(),
): DiagnosisStep {
  return { step, ok: true, ms: Math.round(toMs - fromMs), detail };
}

function failedStep(name: DiagnosisStep['step'], fromMs: number, error: unknown): DiagnosisStep {
  return { ...step(name, fromMs, inWords(error)), ok: false };
}

/** What the promise gives, unless the signal aborts before. */
function before<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

/** An operator reads this: the cause says more than the sentence for callers. */
function inWords(error: unknown): string {
  const reason = isGatewayError(error) && error.cause !== undefined ? error.cause : error;
  if (!(reason instanceof Error)) return String(reason);
  if (reason.name === 'TimeoutError') return `nothing within ${maxMs} ms`;
  return reason.message || ('code' in reason ? String(reason.code) : reason.name);
}
