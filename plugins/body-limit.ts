import { constants } from 'node:buffer';
import { Readable } from 'node:stream';
import type Koa from 'koa';
import {
  definePlugin,
  excessOf,
  GatewayError,
  parseJson,
  readBytes,
  Size,
  sizeBytes,
  Type,
  bodyTooLarge,
} from '@gw2api/gateway/plugin';
import { callSignal, keepRequestInputs, parseInPieces, requireUtf8 } from '@gw2api/gateway/plugin/raw';

/** Reads the JSON body, up to a max size. */
export default definePlugin({
  name: 'body-limit',
  api: 1,
  provides: ['body'],
  reads: ['pathModel'],
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    limit: Size({
      default: '128mb',
      description: 'The largest body in bytes after decompression; 413 above it.',
    }),
    maxValues: Type.Integer({
      minimum: 1,
      default: 1_000_000,
      description:
        'The maximum number of values in a body, including those in lists and objects; 400 above it.',
    }),
  }),
  setup({ limit, maxValues }, host) {
    const maxBytes = checkLimit(sizeBytes(limit));
    const decode = bodyDecoder(maxBytes);
    host.announce({ max_body_bytes: maxBytes });
    return async function bodyLimit(ctx, next) {
      const type = ctx.get('content-type');
      if (!isJson(type)) throw wrongType(type);
      const { format, pathModel } = ctx.state;
      const signal = callSignal(ctx.state);
      const { keepsBytes } = host.formats.get(format);
      const encoding = encodingOf(ctx.headers['content-encoding']);
      const sent = await readBytes(ctx.req, maxBytes, signal);
      const body = parseBytes(encoding ? await decode(sent, encoding) : sent, keepsBytes, maxValues);
      checkFields(body);
      ctx.state.body = pathModel === undefined ? body : withModel(body, pathModel);
      await next();
    };
  },
});

/** Body with the model that its path names. */
function withModel(body: unknown, model: string): unknown {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body, model } : body;
}

const json = 'application/json';

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

/** Parses a body. `keepsBytes`: its messages go upstream as received. */
function parseBytes(bytes: Buffer, keepsBytes: boolean, maxValues: number): unknown {
  requireUtf8(bytes);
  if (mayHaveMore(bytes.length, maxValues)) checkValues(bytes, maxValues);
  const body = parseInPieces(bytes, keepsBytes) ?? parseBody(withoutMark(bytes.toString()));
  keepRequestInputs(body, bytes);
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
  const message = `body: must not have more than ${maxValues} values, including those in lists and objects`;
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

function parseBody(text: string): unknown {
  if (text.trim() !== '') return parseJson(text);
  throw new GatewayError('invalid_json', 'The body is empty; send a JSON object.');
}

/** Decodes a whole body. Throws `body_too_large` above the max size, and `invalid_json` for a broken encoding. */
type DecodeBody = (bytes: Buffer, encoding: Encoding) => Promise<Buffer>;

const encodings = ['gzip', 'deflate', 'br'] as const;

type Encoding = (typeof encodings)[number];

/** Encoding that a `content-encoding` names; undefined for a plain body. Throws 415 for an unknown one. */
function encodingOf(header = 'identity'): Encoding | undefined {
  const name = header.trim().toLowerCase();
  if (name === 'identity') return undefined;
  const known = encodings.find((encoding) => encoding === name);
  if (known) return known;
  throw new GatewayError('unsupported_media_type', 'content-encoding: must be gzip, deflate or br.');
}

/** Decoder by koa-body, loaded at the first body that needs it: most gateways see none. */
function bodyDecoder(maxBytes: number): DecodeBody {
  let loading: Promise<Koa.Middleware> | undefined;
  const load = async (): Promise<Koa.Middleware> => {
    const { koaBody } = await import('koa-body');
    return koaBody({
      json: false, // it refuses keys that JSON allows
      urlencoded: false,
      encoding: '', // bytes, which are checked for UTF-8 later
      textLimit: maxBytes,
      onError(error) {
        throw refusal(error, maxBytes);
      },
    });
  };
  return async (bytes, encoding) => {
    const decode = await (loading ??= load());
    const ctx = contextOf(bytes, encoding);
    await decode(ctx as unknown as Koa.Context, nothing); // it reads nothing else
    return ctx.request.body;
  };
}

async function nothing(): Promise<void> {}

/** The parts of a context that koa-body reads and writes, for a body that has arrived. */
function contextOf(bytes: Buffer, encoding: Encoding) {
  const headers = { 'content-encoding': encoding };
  return {
    method: 'POST',
    is: () => 'text/plain',
    req: Object.assign(Readable.from([bytes], { objectMode: false }), { headers }),
    request: { body: bytes },
  };
}

/** Maps an error of raw-body or zlib to ours. */
function refusal(error: Error & { readonly type?: string }, maxBytes: number): GatewayError {
  if (error.type === 'entity.too.large') return bodyTooLarge(maxBytes);
  const cause = { cause: error };
  return new GatewayError('invalid_json', 'The body does not match its content-encoding.', cause);
}
