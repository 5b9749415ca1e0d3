import { GatewayError } from '@gw2api/gateway/plugin';

/** An item of a list, by whose id a page ends. */
type Item = Readonly<Record<string, unknown>>;

/** A page of a list: `limit`, `order` and `after` as `GET /v1/responses/:id/input_items` takes them. */
export function pageOf(items: readonly Item[], query: URLSearchParams): object {
  const ordered = orderOf(query) === 'asc' ? items : items.toReversed();
  const limit = limitOf(query);
  const from = startOf(ordered, query.get('after'));
  const data = ordered.slice(from, from + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: from + limit < ordered.length,
  };
}

function orderOf(query: URLSearchParams): string {
  const order = query.get('order') ?? 'desc';
  if (order === 'asc' || order === 'desc') return order;
  throw new GatewayError('invalid_request', `order: must be "asc" or "desc", not ${JSON.stringify(order)}`);
}

const maxItems = 100;

function limitOf(query: URLSearchParams): number {
  const text = query.get('limit') ?? '20';
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxItems) return limit;
  throw new GatewayError('invalid_request', `limit: must be a whole number from 1 to ${maxItems}`);
}

function startOf(items: readonly Item[], after: string | null): number {
  if (after === null) return 0;
  const at = items.findIndex(({ id }) => id === after);
  if (at >= 0) return at + 1;
  throw new GatewayError('invalid_request', 'after: must be the id of an input item of this response');
}
