import { expect } from 'chai';
import type { LogLine, ProcessWorkshop } from '../../gateway-process.js';

export const key = 'the-master-key';
export const file = 'config/gateway.yaml';

/** Logs `count` warnings of `size` characters, as the request asks. */
export const noisy = `export default {
  name: 'noisy',
  setup: () => (ctx, next) => {
    const { count, size } = JSON.parse(ctx.headers['x-noise'] ?? '{"count":0,"size":0}');
    for (let at = 0; at < count; at += 1) ctx.state.log.warn({ text: 'x'.repeat(size) }, 'noise');
    return next();
  },
};`;

const uses = [
  '../noisy.mjs',
  'auth',
  'body-limit',
  'format-decode',
  'slot-pick',
  'upstream-call',
  'format-encode',
];

export function configOf(workers: number): string {
  return JSON.stringify({
    listen: { workers },
    pipeline: uses.map((use) => ({ use })),
    slots: [{ id: 'a', upstream: 'simulator' }],
  });
}

/** Starts a gateway whose output nobody reads. */
export async function startUnread(workshop: ProcessWorkshop, workers = 1) {
  const cwd = await workshop.folder({ [file]: configOf(workers), 'noisy.mjs': noisy });
  const gateway = await workshop.start({ cwd, env: { GW2API_API_KEY: key } });
  const url = await gateway.url();
  gateway.pauseOutput();
  return { gateway, url };
}

/** SIGTERM ends all of its processes. */
export async function endsBySigterm(workshop: ProcessWorkshop, workers: number): Promise<void> {
  const { gateway, url } = await startUnread(workshop, workers);
  for (let count = 0; count < 2 * workers; count += 1) await makeNoise(url, 5, 256 * 1024);
  gateway.signal('SIGTERM');
  const { code, signal } = await gateway.exited;
  expect([code, signal]).to.deep.equal([0, null]);
}

/** Resolves once connections are refused, or answered with 503. */
export async function refused(url: string): Promise<void> {
  for (;;) {
    const status = await fetch(`${url}/health?ready=1`).then(
      (response) => response.status,
      () => 503,
    );
    if (status === 503) return;
  }
}

export async function makeNoise(url: string, count: number, size = 0): Promise<void> {
  const body = { model: 'sonnet-5', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: {
      'x-api-key': key,
      'content-type': 'application/json',
      'x-noise': JSON.stringify({ count, size }),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(5000),
  });
  expect(response.status).to.equal(200);
  await response.text();
}

/** Dropped lines by level, as `/metrics` has them. */
export async function dropped(url: string): Promise<Readonly<Record<string, number>>> {
  const response = await fetch(`${url}/metrics`, {
    headers: { 'x-api-key': key },
    signal: AbortSignal.timeout(5000),
  });
  const found = (await response.text()).matchAll(/^gw2api_log_lines_dropped_total\{level="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries(Array.from(found, ([, level, count]) => [level, Number(count)]));
}

export function isNoise({ msg }: LogLine): boolean {
  return msg === 'noise';
}

export function isRequest({ msg }: LogLine): boolean {
  return msg === 'request';
}
