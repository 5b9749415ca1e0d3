import { untilAborted } from '../../kit/time/within.js';
import { lookup } from 'node:dns/promises';
import { isGatewayError } from '../../plugin/index.js';
import { refusal, type DiagnosisStep } from '../../plugin/upstream/index.js';
import type { HttpRequest, RequestTerms } from '../../plugin/core.js';
import type { Egress } from './connections.js';
import type { HttpCall } from './http-call.js';

export interface Diagnosis extends Pick<RequestTerms, 'authorize'> {
  readonly signal: AbortSignal;
  readonly base: URL;
  readonly proxy: string | undefined;
  /** Egress without open connections. */
  readonly egress: Egress;
  readonly prepare: (request: HttpRequest, terms: RequestTerms) => Promise<HttpCall>;
  /** Free request that checks the account. */
  readonly check: HttpRequest | undefined;
}

const maxMs = 10_000;

/**
 * Probes a slot in steps, within 10 s: resolve the host (or its proxy's), connect, one request, one with the
 * credential; stops at the first failure. Any HTTP answer to the first request counts as success.
 */
export async function diagnose({ signal, ...diagnosis }: Diagnosis): Promise<readonly DiagnosisStep[]> {
  const limited = { ...diagnosis, signal: AbortSignal.any([signal, AbortSignal.timeout(maxMs)]) };
  const steps = [await resolve(limited)];
  if (hasPassed(steps)) steps.push(...(await request(limited)));
  if (hasPassed(steps)) steps.push(...(await authenticate(limited)));
  return steps;
}

function hasPassed(steps: readonly DiagnosisStep[]): boolean {
  return steps.every(({ ok }) => ok);
}

async function resolve({ proxy, base, signal }: Diagnosis): Promise<DiagnosisStep> {
  const host = new URL(proxy ?? base).hostname.replaceAll(/[[\]]/g, '');
  const name = proxy ? `the proxy ${host}` : host;
  const startedAtMs = performance.now();
  try {
    const addresses = await untilAborted(lookup(host, { all: true }), signal);
    const found = addresses.map(({ address }) => address).join(', ');
    return step('resolve', startedAtMs, `${name} is ${found}`);
  } catch (error) {
    return failedStep('resolve', startedAtMs, error);
  }
}

async function request(diagnosis: Diagnosis): Promise<readonly DiagnosisStep[]> {
  const { proxy, base, egress, prepare, check } = diagnosis;
  const startedAtMs = performance.now();
  const through = proxy ? ' through the proxy' : '';
  const connected = (atMs: number) =>
    step('connect', startedAtMs, `connected to ${base.host}${through}`, atMs);
  let call: HttpCall | undefined;
  try {
    const { headers = {} } = check ?? {};
    call = await prepare({ path: `${base.pathname}${base.search}`, headers }, termsOf(diagnosis));
    const answer = await call.send(egress);
    answer.drop();
    const atMs = call.connectedAtMs ?? startedAtMs;
    return [connected(atMs), step('request', atMs, `answered with status ${answer.status}`)];
  } catch (error) {
    const atMs = call?.connectedAtMs;
    if (atMs === undefined) return [failedStep('connect', startedAtMs, error)];
    return [connected(atMs), failedStep('request', atMs, error)];
  }
}

/** Requests `check` with the account, if that has a credential; fails only if it is refused. */
async function authenticate(diagnosis: Diagnosis): Promise<readonly DiagnosisStep[]> {
  const { check, authorize, prepare, egress } = diagnosis;
  if (!check || !authorize) return [];
  const startedAtMs = performance.now();
  let isProven = true;
  const prove: RequestTerms['authorize'] = async (outgoing) => {
    const credential = await authorize(outgoing);
    isProven = Object.keys(credential).length > 0;
    return credential;
  };
  try {
    const call = await prepare(check, { ...termsOf(diagnosis), authorize: prove });
    if (!isProven) return [];
    const answer = await call.send(egress);
    const { message } = refusal(answer, await answer.text(maxTextBytes));
    return [credentialStep(answer.status, message, startedAtMs)];
  } catch (error) {
    return [failedStep('credential', startedAtMs, error)];
  }
}

function credentialStep(status: number, message: string, fromMs: number): DiagnosisStep {
  if (status === 401 || status === 403)
    return { ...step('credential', fromMs, `refused with status ${status}: ${message}`), ok: false };
  if (status < 400) return step('credential', fromMs, `accepted with status ${status}`);
  const detail = `not checked: the list of models was answered with status ${status}`;
  return { ...step('credential', fromMs, detail), skipped: true };
}

function termsOf({ signal }: Diagnosis): RequestTerms {
  return { signal, headersTimeoutMs: maxMs, idleTimeoutMs: maxMs };
}

const maxTextBytes = 1024;

function step(
  step: DiagnosisStep['step'],
  fromMs: number,
  detail: string,
  toMs = performance.now(),
): DiagnosisStep {
  return { step, ok: true, ms: Math.round(toMs - fromMs), detail };
}

function failedStep(name: DiagnosisStep['step'], fromMs: number, error: unknown): DiagnosisStep {
  return { ...step(name, fromMs, errorText(error)), ok: false };
}

/** Error text for an operator: the cause, if there is one, is more precise than the message for callers. */
function errorText(error: unknown): string {
  const reason = isGatewayError(error) && error.cause !== undefined ? error.cause : error;
  if (!(reason instanceof Error)) return String(reason);
  if (reason.name === 'TimeoutError') return `nothing within ${maxMs} ms`;
  return reason.message || ('code' in reason ? String(reason.code) : reason.name);
}
