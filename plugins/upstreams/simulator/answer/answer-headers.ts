import type { Scenario } from '../scenarios/marker.js';

const windowMs = { '5h': 5 * 3_600_000, '7d': 7 * 24 * 3_600_000 } as const;
const usual = { '5h': '0.125', '7d': '0.03' } as const;

export const windowsHelp = '5h=0.42 7d=0.1 status=allowed_warning: what the usage window headers say';

/** The headers of every answer: request id, usage windows (reset in unix seconds) and rate limits. */
export function answerHeaders(
  requestId: string,
  nowMs: number,
  scenarios: readonly Scenario[],
): Record<string, string> {
  const params = scenarios.findLast(({ name }) => name === 'windows')?.params ?? {};
  const status = params['status'] ?? 'allowed';
  return {
    'request-id': requestId,
    'anthropic-organization-id': '00000000-0000-4000-8000-000000000000',
    'anthropic-ratelimit-unified-status': status,
    ...windowHeaders('5h', params['5h'] ?? usual['5h'], status, nowMs),
    ...windowHeaders('7d', params['7d'] ?? usual['7d'], 'allowed', nowMs),
    'anthropic-ratelimit-requests-limit': '4000',
    'anthropic-ratelimit-requests-remaining': '3999',
    'anthropic-ratelimit-requests-reset': `${new Date(nowMs).toISOString().slice(0, 19)}Z`,
  };
}

function windowHeaders(
  window: '5h' | '7d',
  utilization: string,
  status: string,
  nowMs: number,
): Record<string, string> {
  const length = windowMs[window];
  const resetMs = Math.floor(nowMs / length) * length + length;
  return {
    [`anthropic-ratelimit-unified-${window}-status`]: status,
    [`anthropic-ratelimit-unified-${window}-utilization`]: utilization,
    [`anthropic-ratelimit-unified-${window}-reset`]: String(resetMs / 1000),
  };
}
