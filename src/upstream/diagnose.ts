import { lookup } from 'node:dns/promises';
import {
  defaultAnthropicVersion,
  isGatewayError,
  type DiagnosisStep,
  type UpstreamSettings,
} from '../plugin/index.js';
import type { Backpressure } from './body.js';
import type { Egress } from './connections.js';
import { Exchange } from './exchange.js';
import { refusal, type Answer } from './failure.js';
import { requestHeaders } from './headers.js';
import { TextBody } from './text-body.js';

export interface Diagnosis {
  readonly settings: UpstreamSettings;
  readonly base: URL;
  /** Path and query of the upstream's model list, a request that costs nothing. */
  readonly modelsPath: string;
  /** Egress without open connections. */
  readonly egress: Egress;
  readonly signal: AbortSignal;
  /** Headers of the account; empty if there is none, and nothing to check. */
  readonly credential: Readonly<Record<string, string>>;
}

const maxMs = 10_000;

const versionHeader = { 'anthropic-version': defaultAnthropicVersion };

/**
 * Probes a slot in steps, within 10 s: resolve the host (or its proxy's), connect, one request, one with the
 * credential; stops at the first failure. Any HTTP answer to the first request is good (contract §7 rule 1).
 */
export async function diagnose({ signal, ...diagnosis }: Diagnosis): Promise<readonly DiagnosisStep[]> {
  const limited = { ...diagnosis, signal: AbortSignal.any([signal, AbortSignal.timeout(maxMs)]) };
  const steps = [await resolve(limited)];
  if (hasPassed(steps)) steps.push(...(await request(limited)));
  if (hasPassed(steps) && Object.keys(diagnosis.credential).length > 0)
    steps.push(await authenticate(limited));
  return steps;
}

function hasPassed(steps: readonly DiagnosisStep[]): boolean {
  return steps.every(({ ok }) => ok);
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

async function request(diagnosis: Diagnosis): Promise<readonly DiagnosisStep[]> {
  const { settings, base, egress } = diagnosis;
  const startedAtMs = performance.now();
  const exchange = get(diagnosis, `${base.pathname}${base.search}`, {});
  const through = settings.proxy ? ' through the proxy' : '';
  const connected = (atMs: number) =>
    step('connect', startedAtMs, `connected to ${base.host}${through}`, atMs);
  try {
    const { status } = await exchange.send(egress);
    const atMs = exchange.connectedAtMs ?? startedAtMs;
    return [connected(atMs), step('request', atMs, `answered with status ${status}`)];
  } catch (error) {
    const atMs = exchange.connectedAtMs;
    if (atMs === undefined) return [failedStep('connect', startedAtMs, error)];
    return [connected(atMs), failedStep('request', atMs, error)];
  }
}

/** Probes the credential with a model list request; fails only if the credential is refused. */
async function authenticate(diagnosis: Diagnosis): Promise<DiagnosisStep> {
  const startedAtMs = performance.now();
  try {
    const exchange = get(diagnosis, diagnosis.modelsPath, diagnosis.credential);
    const { status, headers, body } = await exchange.send(diagnosis.egress);
    const { message } = refusal({ status, headers }, await body.text);
    if (status === 401 || status === 403)
      return { ...step('credential', startedAtMs, `refused with status ${status}: ${message}`), ok: false };
    if (status < 400) return step('credential', startedAtMs, `accepted with status ${status}`);
    const detail = `not checked: the list of models was answered with status ${status}`;
    return { ...step('credential', startedAtMs, detail), skipped: true };
  } catch (error) {
    return failedStep('credential', startedAtMs, error);
  }
}

function get(
  { settings, signal }: Diagnosis,
  path: string,
  credential: Diagnosis['credential'],
): Exchange<TextBody> {
  return new Exchange({
    slot: settings.id,
    method: 'GET',
    path,
    headers: requestHeaders({ call: versionHeader, slot: settings.headers, credential }),
    signal,
    connectTimeoutMs: settings.connectTimeoutMs,
    headersTimeoutMs: maxMs,
    idleTimeoutMs: maxMs,
    read: (_: Answer, flow: Backpressure) => new TextBody(flow, 1024),
  });
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

/** Result of the promise; rejects with the signal's reason if the signal aborts first. */
function before<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

/** Error text for an operator: the cause, if there is one, is more precise than the message for callers. */
function inWords(error: unknown): string {
  const reason = isGatewayError(error) && error.cause !== undefined ? error.cause : error;
  if (!(reason instanceof Error)) return String(reason);
  if (reason.name === 'TimeoutError') return `nothing within ${maxMs} ms`;
  return reason.message || ('code' in reason ? String(reason.code) : reason.name);
}
