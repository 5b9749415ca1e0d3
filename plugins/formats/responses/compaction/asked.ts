import type { FormatContext } from '@gw2api/gateway/plugin/format';
import { isCompaction, summaryRequest } from './compaction.js';
import { knowPrevious } from '../input.js';
import { takeLast } from '../stored/keep-response.js';
import { invalidField, isRecord } from '../../shared/body.js';

type Fields = Readonly<Record<string, unknown>>;

/** Requests by the bodies that they were made of. */
const requests = new WeakMap<object, Fields>();

/**
 * The request that a body stands for: a WebSocket message, the conversation of a compaction, or the body itself; always
 * the same object for the same body. A body that is not an object stays unchanged, for the check to refuse.
 */
export function askedBy(body: unknown, context: FormatContext): unknown {
  if (!isRecord(body)) return body;
  const known = requests.get(body) ?? requestOf(body, context);
  if (known !== body) requests.set(body, known);
  return known;
}

function requestOf(body: Fields, context: FormatContext): Fields {
  const summary = triggeredRequest(body);
  if (isCompaction(context)) return summaryRequest(summary ?? body);
  const asked = summary ?? body;
  const request = context.connection ? messageRequest(asked, context) : asked;
  if (summary) markTriggered(request);
  return request;
}

/** Message that is always streamed, regardless of its transport fields. */
function messageRequest(body: Fields, context: FormatContext): Fields {
  const { type, background: _, stream_options: _options, ...asked } = body;
  const request = { ...asked, stream: true };
  const previous = takeLast(body['previous_response_id'], context);
  if (previous) knowPrevious(request, previous);
  if (type !== 'response.create') throw invalidField('type', 'must be "response.create"');
  if (body['stream_id'])
    throw invalidField('stream_id', 'is not supported: a connection gives one answer at a time');
  return request;
}

/** Requests that were made of a body with a trigger. */
const triggered = new WeakSet<object>();

/**
 * The request for a summary, of a body whose input ends with a `compaction_trigger`; undefined without one.
 * Throws `invalid_request` for a trigger elsewhere.
 */
function triggeredRequest(body: Fields): Fields | undefined {
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
function markTriggered(request: object): void {
  triggered.add(request);
}

export function isTriggered(request: object): boolean {
  return triggered.has(request);
}

function isTrigger(item: unknown): boolean {
  return isRecord(item) && item['type'] === 'compaction_trigger';
}
