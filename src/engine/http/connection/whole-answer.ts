import type { ServerResponse } from 'node:http';
import type { CoreContext } from '../exchange.js';

/** Max bytes of a write: Node shows no progress within one. */
const maxPieceBytes = 64 * 1024;

/** Sends a text, bytes or JSON as Koa does, but a long one in pieces; leaves all other bodies to Koa. */
export function sendWhole(ctx: CoreContext): void {
  const body: unknown = ctx.body;
  const isData = typeof body === 'string' || Buffer.isBuffer(body);
  if (!isData && !isPlain(body)) return;
  if (withoutBody.has(ctx.status)) return;
  const data = isData ? body : JSON.stringify(body);
  const length = Buffer.byteLength(data);
  ctx.respond = false;
  ctx.length = length;
  if (length <= maxPieceBytes) ctx.res.end(data);
  else writeInPieces(ctx.res, typeof data === 'string' ? Buffer.from(data) : data);
}

/** Statuses of answers without a body, even if a stage has set one. */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/** True for a list or an object without a class, which Koa sends as JSON. */
export function isPlain(body: unknown): body is object {
  if (typeof body !== 'object' || body === null) return false;
  const prototype: unknown = Object.getPrototypeOf(body);
  return prototype === Object.prototype || prototype === null || Array.isArray(body);
}

/** Writes each piece when the caller has taken the one before it. */
function writeInPieces(response: ServerResponse, bytes: Buffer): void {
  let at = 0;
  const write = (): void => {
    while (bytes.length - at > maxPieceBytes) {
      const hasRoom = response.write(bytes.subarray(at, at + maxPieceBytes));
      at += maxPieceBytes;
      if (!hasRoom) return void response.once('drain', write);
    }
    response.end(bytes.subarray(at));
  };
  write();
}
