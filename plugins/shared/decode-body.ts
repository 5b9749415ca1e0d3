import { Readable } from 'node:stream';
import type Koa from 'koa';
import { bodyTooLarge, GatewayError } from '@gw2api/gateway/plugin';

/** Decodes a whole body. Throws `body_too_large` above the max size, and `invalid_json` for a broken encoding. */
type DecodeBody = (bytes: Buffer, encoding: Encoding) => Promise<Buffer>;

const encodings = ['gzip', 'deflate', 'br'] as const;

export type Encoding = (typeof encodings)[number];

/** Encoding that a `content-encoding` names; undefined for a plain body. Throws 415 for an unknown one. */
export function encodingOf(header = 'identity'): Encoding | undefined {
  const name = header.trim().toLowerCase();
  if (name === 'identity') return undefined;
  const known = encodings.find((encoding) => encoding === name);
  if (known) return known;
  throw new GatewayError('unsupported_media_type', 'content-encoding: must be gzip, deflate or br.');
}

/** Decoder by koa-body, loaded at the first body that needs it: most gateways see none. */
export function bodyDecoder(maxBytes: number): DecodeBody {
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

/** The parts of a context that koa-body reads and writes, for a body that has come. */
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
  return new GatewayError('invalid_json', 'The body is not what its content-encoding says.', cause);
}
