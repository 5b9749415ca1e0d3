import { summaryRequest } from './compaction.js';
import { invalidField, isRecord } from '../../shared/body.js';

type Fields = Readonly<Record<string, unknown>>;

/** Requests that were made of a body with a trigger. */
const triggered = new WeakSet<object>();

/**
 * The request for a summary, of a body whose input ends with a `compaction_trigger`; undefined without one.
 * Throws `invalid_request` for a trigger elsewhere.
 */
export function triggeredRequest(body: Fields): Fields | undefined {
  const { input } = body;
  if (!Array.isArray(input)) return undefined;
  const at = input.findIndex(isTrigger);
  if (at < 0) return undefined;
  if (at < input.length - 1)
    throw invalidField(`input[${at}]`, 'is a compaction_trigger, which must be the last item of the input');
  const { stream, store } = body;
  return { ...summaryRequest({ ...body, input: input.slice(0, -1) }), stream, store };
}

/** Marks the request of a body with a trigger, for its encoder. */
export function markTriggered(request: object): void {
  triggered.add(request);
}

export function isTriggered(request: object): boolean {
  return triggered.has(request);
}

function isTrigger(item: unknown): boolean {
  return isRecord(item) && item['type'] === 'compaction_trigger';
}
