import { jsonFields } from '@gw2api/gateway/plugin/upstream';
import { errorOfException } from './exceptions.js';
import { FrameDecoder, type Frame } from './frames.js';

/**
 * Function from the bytes of each read of an answer of InvokeModelWithResponseStream to the server-sent events
 * within its frames, for `HttpAnswer.events`.
 */
export function frameEvents(): (bytes: Buffer) => Buffer {
  const decoder = new FrameDecoder();
  return (bytes) => {
    const pieces: Buffer[] = [];
    for (const frame of decoder.decode(bytes)) writeEvent(frame, pieces);
    return Buffer.concat(pieces);
  };
}

/** Adds the event of a frame, if it has one. */
function writeEvent({ headers, payload }: Frame, pieces: Buffer[]): void {
  const { ':message-type': kind, ':event-type': type, ':exception-type': exception } = headers;
  if (kind === 'event') {
    if (type === 'chunk') writeChunk(payload, pieces);
  } else {
    const code = exception ?? headers[':error-code'] ?? '';
    const fields = jsonFields(payload.toString());
    const error = errorOfException(code, { message: headers[':error-message'], ...fields });
    pieces.push(Buffer.from(`event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`));
  }
}

/** Adds the event in the payload of a chunk; one without a type is a keep-alive. */
function writeChunk(payload: Buffer, pieces: Buffer[]): void {
  const { bytes } = jsonFields(payload.toString());
  if (typeof bytes !== 'string') return;
  const event = Buffer.from(bytes, 'base64');
  const name = event.length === 0 ? undefined : nameOf(event);
  if (name === undefined) return;
  pieces.push(name, inOneLine(event), emptyLine);
}

/** First line of an event, and the field name of the next one; undefined for a keep-alive. */
function nameOf(event: Buffer): Buffer | undefined {
  const type = usualType.exec(event.toString('latin1', 0, maxUsualLength))?.[1];
  if (type !== undefined) return names.get(type) ?? nameLine(type);
  return isKeepAlive(event.toString()) ? undefined : dataField;
}

/** True for an object without a type; anything else is read, or refused, as an event without a name. */
function isKeepAlive(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !('type' in value);
  } catch {
    return false; // the reader of the events says so
  }
}

/** Beginning of nearly all events, which need no parsing here. */
const usualType = /^\s*\{\s*"type"\s*:\s*"([a-z_]+)"/;
const maxUsualLength = 100;

const dataField = Buffer.from('data: ');
const emptyLine = Buffer.from('\n\n');

function nameLine(type: string): Buffer {
  return Buffer.from(`event: ${type}\ndata: `);
}

const names = new Map(
  [
    'content_block_delta',
    'content_block_start',
    'content_block_stop',
    'message_start',
    'message_delta',
    'message_stop',
    'ping',
  ].map((type) => [type, nameLine(type)]),
);

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

/** Replaces the line ends of JSON in place; within its texts they are escaped. */
function inOneLine(json: Buffer): Buffer {
  for (const end of [lineFeed, carriageReturn])
    for (let at = json.indexOf(end); at !== -1; at = json.indexOf(end, at + 1)) json[at] = space;
  return json;
}
