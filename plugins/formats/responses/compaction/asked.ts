import type { FormatContext } from '@gw2api/gateway/plugin/format';
import { isCompaction, summaryRequest } from './compaction.js';
import { markTriggered, triggeredRequest } from './compaction-trigger.js';
import { knowPrevious } from '../input.js';
import { takeLast } from '../stored/last-response.js';
import { invalidField, isRecord } from '../../shared/body.js';

type Fields = Readonly<Record<string, unknown>>;

/** Requests by the bodies that they were made of. */
const requests = new WeakMap<object, Fields>();

/**
 * The request that a body stands for: a message of a WebSocket, the conversation of a compaction, or the body
 * itself. The same for the same body. A body that is not an object stays as it is, for the check to refuse.
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

/** A message is always streamed, whatever it says of its transport. */
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
