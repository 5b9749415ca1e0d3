import { constants } from 'node:buffer';
import type Koa from 'koa';
import {
  bodyAborted,
  definePlugin,
  excessOf,
  GatewayError,
  isGatewayError,
  parseJson,
  readBytes,
  Size,
  sizeBytes,
  bodyTooLarge,
  Type,
} from 'gw2api/plugin';
import { callSignal, keepRequestInputs, parseInPieces, type CallSignal } from 'gw2api/plugin/raw';

/** Reads the JSON body, up to a max size (contract §8). */
export default definePlugin({
  name: 'body-limit',
  api: 1,
  provides: ['body'],
  reads: ['pathModel'],
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    /** Max body size in bytes, after decompression. */
    limit: Size({ default: '128mb' }),
    /** Max values in a body, those in lists and objects included. */
    maxValues: Type.Integer({ minimum: 1, default: 1_000_000 }),
  }),
  setup({ limit, maxValues }, host) {
    const maxBytes = checkLimit(sizeBytes(limit));
    host.announce({ max_body_bytes: maxBytes });
    const decoding = decoder(maxBytes);
    return async function bodyLimit(ctx, next) {
      const type = ctx.get('content-type');
      if (!isJson(type)) throw wrongType(type);
      const { format, pathModel } = ctx.state;
      const signal = callSignal(ctx.state);
      const { keepsBytes } = host.formats.get(format);
      const isPlain = (ctx.headers['content-encoding'] ?? 'identity') === 'identity';
      const body = isPlain
        ? parseBytes(await readBytes(ctx.req, maxBytes, signal), keepsBytes, maxValues)
        : parseText(await unlessLeft(signal, decoding(ctx)), maxValues);
      checkFields(body);
      ctx.state.body = pathModel === undefined ? body : withModel(body, pathModel);
      await next();
    };
  },
});

/** A body under the model that its path names. */
function withModel(body: unknown, model: string): unknown {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body, model } : body;
}

type Decoder = (ctx: Koa.Context) => Promise<unknown>;

/**
 * Reads compressed bodies with koa-body, loaded at the first one. For plain bodies it would cost every request
 * time, and every process memory.
 */
function decoder(maxBytes: number): Decoder {
  let loading: Promise<Koa.Middleware> | undefined;
  const load = async () => {
    const { koaBody } = await import('koa-body');
    // Read as text: the JSON mode refuses keys that JSON allows.
    return koaBody({
      json: false,
      urlencoded: false,
      text: true,
      textTypes: [json],
      textLimit: maxBytes,
      onError(error) {
        throw refusal(error, maxBytes);
      },
    });
  };
  return async (ctx) => {
    const read = await (loading ??= load());
    await read(ctx, nothing);
    return ctx.request.body;
  };
}

const json = 'application/json';

async function nothing(): Promise<void> {}

function checkLimit(maxBytes: number): number {
  const max = constants.MAX_STRING_LENGTH;
  if (maxBytes >= 1 && maxBytes <= max) return maxBytes;
  throw new RangeError(`limit: must be from 1 to ${max} bytes, the longest text that Node.js can hold.`);
}

/** True for a JSON content type; its charset is ignored. */
function isJson(header: string): boolean {
  return header === json || header.split(';')[0]?.trim().toLowerCase() === json;
}

/** Removes a byte order mark, which some editors write. */
function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function wrongType(header: string): GatewayError {
  const sent = header === '' ? 'none' : JSON.stringify(header);
  return new GatewayError('unsupported_media_type', `content-type: must be "${json}", not ${sent}.`);
}

/**
 * Stops waiting when the caller disconnects or the request is aborted, which the decoder of a compressed body
 * does not notice.
 */
async function unlessLeft<Value>(signal: CallSignal, reading: Promise<Value>): Promise<Value> {
  let leave: (() => void) | undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(isGatewayError(signal.reason) ? signal.reason : bodyAborted());
    signal.addEventListener('abort', leave);
  });
  try {
    return await Promise.race([reading, left]);
  } finally {
    if (leave) signal.removeEventListener('abort', leave);
  }
}

/** Parses a body. `keepsBytes`: its messages go upstream as received. */
function parseBytes(bytes: Buffer, keepsBytes: boolean, maxValues: number): unknown {
  if (mayHaveMore(bytes.length, maxValues)) checkValues(bytes, maxValues);
  const body = parseInPieces(bytes, keepsBytes) ?? parseBody(withoutMark(bytes.toString()));
  keepRequestInputs(body, bytes);
  return body;
}

function parseText(text: unknown, maxValues: number): unknown {
  if (typeof text === 'string' && mayHaveMore(text.length, maxValues))
    checkValues(Buffer.from(text), maxValues);
  const body = parseBody(text);
  if (typeof text === 'string') keepRequestInputs(body, text);
  return body;
}

/** Cheap first check: a value and its comma take at least two characters. */
function mayHaveMore(length: number, maxValues: number): boolean {
  return length > 2 * maxValues;
}

/** Throws `invalid_request` for too many values or fields, since parsing them would block all other requests. */
function checkValues(json: Buffer, maxValues: number): void {
  const excess = excessOf(json, { values: maxValues, fields: maxFields });
  if (excess === 'fields') throw tooManyFields();
  if (excess === undefined) return;
  const message = `body: must not have more than ${maxValues} values, those in lists and objects included`;
  throw new GatewayError('invalid_request', `${message}.`);
}

/** Throws `invalid_request` for more fields than any format has: each unknown one costs the stages below. */
function checkFields(body: unknown): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return;
  let fields = 0;
  for (const _ in body) if ((fields += 1) > maxFields) throw tooManyFields();
}

/** Max top-level fields of a body; formats have some tens. */
const maxFields = 1000;

function tooManyFields(): GatewayError {
  return new GatewayError('invalid_request', `body: must not have more than ${maxFields} fields.`);
}

function parseBody(text: unknown): unknown {
  if (typeof text === 'string' && text.trim() !== '') return parseJson(text);
  throw new GatewayError('invalid_json', 'The body is empty; send a JSON object.');
}

interface ReadingError extends Error {
  readonly type?: string;
  readonly code?: string;
}

/** Maps an error of koa-body to ours. */
function refusal(error: ReadingError, maxBytes: number): Error {
  if (error.type === 'entity.too.large') return bodyTooLarge(maxBytes);
  if (error.type?.startsWith('request.') || /^(?:HPE_|ECONN)/.test(error.code ?? '')) return bodyAborted();
  if (error.message.startsWith('Unsupported Content-Encoding'))
    return new GatewayError('unsupported_media_type', 'content-encoding: must be gzip, deflate or br.');
  const isFromZlib = /^(?:Z_|ERR_)/.test(error.code ?? '');
  if (isFromZlib) return new GatewayError('invalid_json', 'The body is not what its content-encoding says.');
  return error;
}
