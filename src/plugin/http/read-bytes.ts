import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { CallSignal } from '../../kit/call-signal.js';
import { GatewayError, isGatewayError } from '../contract/error.js';
import { CollectedBytes } from './collected-bytes.js';

/**
 * Reads the body of a request. Throws `body_too_large` above `maxBytes` (before reading, by `content-length`),
 * `invalid_request` if the caller disconnects, and the signal's reason if it is a GatewayError.
 */
export function readBytes(request: IncomingMessage, maxBytes: number, signal: CallSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length']) > maxBytes) {
      reject(bodyTooLarge(maxBytes));
      return;
    }
    const collected = new CollectedBytes();
    const take = (chunk: Buffer): void => {
      collected.add(chunk);
      if (collected.length > maxBytes) end(bodyTooLarge(maxBytes));
    };
    const finish = (): void => end();
    const leave = (): void => end(isGatewayError(signal.reason) ? signal.reason : bodyAborted());
    const end = (error?: GatewayError): void => {
      request.off('data', take).off('end', finish).off('close', leave).off('error', leave);
      signal.removeEventListener('abort', leave);
      if (error) reject(error);
      else resolve(collected.take());
      if (error) request.on('error', ignore).pause();
    };
    request.on('data', take).on('end', finish).on('close', leave).on('error', leave);
    signal.addEventListener('abort', leave);
    if (request.destroyed && !request.readableEnded) leave();
  });
}

/** As `readBytes`, for a body that is text. Throws `invalid_json` also for one that is not UTF-8. */
export async function readText(
  request: IncomingMessage,
  maxBytes: number,
  signal: CallSignal,
): Promise<string> {
  const bytes = await readBytes(request, maxBytes, signal);
  requireUtf8(bytes);
  return bytes.toString();
}

/** Throws `invalid_json` for a body that is not UTF-8. */
export function requireUtf8(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json', 'The body is not valid UTF-8.');
}

/**
 * Error for a body that is too large. Closes the connection, because the rest of the body would have to be
 * read otherwise.
 */
export function bodyTooLarge(maxBytes: number): GatewayError {
  const message = `The body is larger than ${maxBytes} bytes, the maximum of this gateway.`;
  return new GatewayError('body_too_large', message, { headers: { connection: 'close' } });
}

export function bodyAborted(): GatewayError {
  return new GatewayError('invalid_request', 'The connection closed before the whole body had arrived.');
}

/** Ignores later errors of the connection: the error of the body is the answer. */
function ignore(): void {}

/** Concatenates buffers; a single one is returned as it is. */
export function joinBytes(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first && pieces.length === 1 ? first : Buffer.concat(pieces);
}
