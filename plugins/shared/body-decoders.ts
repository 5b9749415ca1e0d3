import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type InputType, type ZlibOptions } from 'node:zlib';
import { bodyTooLarge, GatewayError } from 'gw2api/plugin';

/** Decodes a whole body. Throws `body_too_large` above `maxBytes`, and `invalid_json` for a broken encoding. */
type BodyDecoder = (body: Buffer, maxBytes: number) => Promise<Buffer>;

/** Decoder of a `content-encoding`; undefined for a plain body. Throws 415 for an unknown encoding. */
export function decoderOf(encoding = 'identity'): BodyDecoder | undefined {
  const name = encoding.trim().toLowerCase();
  if (name === 'identity') return undefined;
  const decoder = decoders.get(name);
  if (decoder) return decoder;
  throw new GatewayError('unsupported_media_type', 'content-encoding: must be gzip, deflate or br.');
}

type Decompress = (body: InputType, options: ZlibOptions) => Promise<Buffer>;

function decoder(decompress: Decompress): BodyDecoder {
  return async (body, maxBytes) => {
    try {
      return await decompress(body, { maxOutputLength: maxBytes });
    } catch (error) {
      throw refusal(error as NodeJS.ErrnoException, maxBytes); // zlib throws these
    }
  };
}

const decoders: ReadonlyMap<string, BodyDecoder> = new Map([
  ['gzip', decoder(promisify(gunzip))],
  ['deflate', decoder(promisify(inflate))],
  ['br', decoder(promisify(brotliDecompress))],
]);

/** Maps an error of zlib to ours. */
function refusal(error: NodeJS.ErrnoException, maxBytes: number): Error {
  if (error.code === 'ERR_BUFFER_TOO_LARGE') return bodyTooLarge(maxBytes);
  const cause = { cause: error };
  return new GatewayError('invalid_json', 'The body is not what its content-encoding says.', cause);
}
