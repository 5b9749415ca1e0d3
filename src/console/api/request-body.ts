import type { IncomingMessage } from 'node:http';
import { GatewayError, parseJson, readBytes } from '../../plugin/index.js';
import type { PanelContext } from './route.js';

/** JSON body of a request. Throws 415, 413 and `invalid_json`. */
export async function readBody({ req, state }: PanelContext, maxBytes: number): Promise<unknown> {
  requireJson(req);
  const text = (await readBytes(req, maxBytes, state.callSignal)).toString();
  if (text.trim() === '') throw new GatewayError('invalid_json', 'The body is empty; send a JSON object.');
  return parseJson(text);
}

/**
 * Throws 415 for other content types. Also stops cross-site forms: no browser sends JSON for them without a
 * preflight.
 */
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
