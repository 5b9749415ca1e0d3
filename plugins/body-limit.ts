import { constants } from 'node:buffer';
import { koaBody } from 'koa-body';
import { Type } from 'typebox';
import { definePlugin, GatewayError, isGatewayError, parseJson, Size, sizeBytes } from 'gw2api/plugin';

/** Reads the JSON body, and no more of it than the limit allows (contract §8). */
export default definePlugin({
  name: 'body-limit',
  provides: ['body'],
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    /** The largest body that is read, in bytes after decompression. */
    limit: Size({ default: '128mb' }),
  }),
  setup({ limit }, host) {
    const maxBytes = checkLimit(sizeBytes(limit));
    host.announce({ max_body_bytes: maxBytes });
    // Read as text: the JSON mode refuses keys that JSON allows.
    const readText = koaBody({
      json: false,
      urlencoded: false,
      text: true,
      textTypes: [json],
      textLimit: maxBytes,
      onError(error) {
        throw refusal(error, maxBytes);
      },
    });
    return async function bodyLimit(ctx, next) {
      const type = ctx.get('content-type');
      if (!isJson(type, ctx.is(json))) throw wrongType(type);
      await unlessLeft(ctx.state.signal, readText(ctx, nothing));
      ctx.state.body = parseBody(ctx.request.body);
      await next();
    };
  },
});

const json = 'application/json';

async function nothing(): Promise<void> {}

function checkLimit(maxBytes: number): number {
  const most = constants.MAX_STRING_LENGTH;
  if (maxBytes >= 1 && maxBytes <= most) return maxBytes;
  throw new RangeError(`limit: must be from 1 to ${most} bytes, the longest text that Node.js can hold.`);
}

/** The type alone decides, a charset beside it does not; a request without a body has none that Koa would look at. */
function isJson(header: string, koaSays: string | false | null): boolean {
  return koaSays !== false && header.split(';')[0]?.trim().toLowerCase() === json;
}

function wrongType(header: string): GatewayError {
  const sent = header === '' ? 'none' : JSON.stringify(header);
  return new GatewayError('unsupported_media_type', `content-type: must be "${json}", not ${sent}.`);
}

/** Ends the wait when the caller leaves, of which the decoder of a compressed body hears nothing, or is sent away. */
async function unlessLeft(signal: AbortSignal, reading: Promise<void>): Promise<void> {
  let leave: (() => void) | undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(isGatewayError(signal.reason) ? signal.reason : cutShort());
    signal.addEventListener('abort', leave);
  });
  try {
    await Promise.race([reading, left]);
  } finally {
    if (leave) signal.removeEventListener('abort', leave);
  }
}

function parseBody(text: unknown): unknown {
  if (typeof text === 'string' && text.trim() !== '') return parseJson(text);
  throw new GatewayError('invalid_json', 'The body is empty; send a JSON object.');
}

interface ReadingError extends Error {
  readonly type?: string;
  readonly code?: string;
}

/** What koa-body's reader throws, in our words. */
function refusal(error: ReadingError, maxBytes: number): Error {
  if (error.type === 'entity.too.large') return tooLarge(maxBytes);
  if (error.type?.startsWith('request.') || /^(?:HPE_|ECONN)/.test(error.code ?? '')) return cutShort();
  if (error.message.startsWith('Unsupported Content-Encoding'))
    return new GatewayError('unsupported_media_type', 'content-encoding: must be gzip, deflate or br.');
  const isFromZlib = /^(?:Z_|ERR_)/.test(error.code ?? '');
  if (isFromZlib) return new GatewayError('invalid_json', 'The body is not what its content-encoding says.');
  return error;
}

/** The connection ends with the answer: what is still to come on it would have to be read to the end otherwise. */
function tooLarge(maxBytes: number): GatewayError {
  const message = `The body is larger than ${maxBytes} bytes, the most that this gateway takes.`;
  return new GatewayError('body_too_large', message, { headers: { connection: 'close' } });
}

function cutShort(): GatewayError {
  return new GatewayError('invalid_request', 'The connection closed before the whole body had arrived.');
}
