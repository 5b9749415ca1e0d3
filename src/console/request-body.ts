import type { IncomingMessage } from 'node:http';
import { GatewayError, parseJson } from '../plugin/index.js';
import type { PanelContext } from './route.js';

/** The JSON body of a request. Throws 415, 413, `invalid_json`. */
export async function readBody({ req }: PanelContext, maxBytes: number): Promise<unknown> {
  requireJson(req);
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const text = await readText(req, maxBytes);
  if (text.trim() === '') throw new GatewayError('invalid_json', 'The body is empty; send a JSON object.');
  return parseJson(text);
}

/** Also what keeps forms of other sites out: no browser sends this type for them unasked. */
function requireJson({ headers }: IncomingMessage): void {
  const type = headers['content-type'] ?? '';
  if (type.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    const sent = type === '' ? 'none' : JSON.stringify(type);
    throw unsupported(`content-type: must be "application/json", not ${sent}.`);
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw unsupported('content-encoding: the panel takes no compressed bodies.');
}

function unsupported(message: string): GatewayError {
  return new GatewayError('unsupported_media_type', message);
}

/** Not by `for await`, which ends the connection with the loop, and with it the way of the answer. */
function readText(req: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) return void chunks.push(chunk);
      req.pause();
      reject(tooLarge(maxBytes));
    });
    req.once('end', () => resolve(Buffer.concat(chunks).toString()));
    req.once('close', () => reject(cutShort())); // after `end` nobody hears it
    req.once('error', (cause) => reject(cutShort(cause)));
  });
}

/** The connection ends with the answer: what is still to come on it would have to be read to the end otherwise. */
function tooLarge(maxBytes: number): GatewayError {
  const message = `The body is larger than ${maxBytes} bytes, the most that this path takes.`;
  return new GatewayError('body_too_large', message, { headers: { connection: 'close' } });
}

function cutShort(cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', 'The connection closed before the whole body had arrived.', {
    cause,
  });
}
