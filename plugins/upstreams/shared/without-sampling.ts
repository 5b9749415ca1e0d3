import type { MessagesRequest, SlotCall } from '@gw2api/gateway/plugin';
import type { Dropped } from './losses/dropped.js';

const names = ['temperature', 'top_p', 'top_k', 'stop_sequences'] as const;

/** The request without the sampling parameters and stop sequences that the server has refused, which are reported. */
export function withoutSampling(
  request: MessagesRequest,
  without: SlotCall['without'],
  dropped: Dropped,
): MessagesRequest {
  const lost = without ? names.filter((name) => without.has(name) && request[name] !== undefined) : [];
  if (lost.length === 0) return request;
  for (const name of lost) dropped.add(name);
  const rest: Record<string, unknown> = { ...request };
  for (const name of lost) delete rest[name];
  return rest as unknown as MessagesRequest; // only optional fields are left out
}
