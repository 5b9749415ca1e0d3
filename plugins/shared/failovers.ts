import type { GatewayError, Host, Slot } from '@gw2api/gateway/plugin';

/** Counts a call that is made again after a failure. */
export type CountFailover = (error: GatewayError, from: Slot, to: Slot) => void;

/** Counter of retried calls, by reason and destination. */
export function failoverCounter(metrics: Host['metrics']): CountFailover {
  const counter = metrics.counter(
    'gw2api_failovers_total',
    'Upstream calls retried after a failure: in another slot, or once more in the same one.',
    ['reason', 'to'],
  );
  return (error, from, to) =>
    counter.add({ reason: reasonOf(error), to: from.id === to.id ? 'same_slot' : 'other_slot' });
}

/** Reason of a failure, from a fixed set, since codes depend on the upstream. */
function reasonOf({ failure }: GatewayError): string {
  if (!failure) return 'other';
  if (failure.kind !== 'status') return failure.kind;
  const { status } = failure;
  return reasons[status] ?? (status >= 500 ? 'server_error' : 'other');
}

const reasons: Readonly<Record<number, string>> = {
  401: 'credential',
  402: 'payment',
  403: 'credential',
  408: 'timeout',
  429: 'rate_limited',
  503: 'overloaded',
  529: 'overloaded',
};
