import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';

/** Keys as the vendor's signer takes them. */
export interface SignerKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** A request to sign; its headers are all signed. */
export interface SignedRequest {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Scope {
  readonly keys: SignerKeys;
  readonly region: string;
  readonly service: string;
  readonly at: Date;
}

const proofs = ['authorization', 'x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'];

/** Headers of a proof as the vendor's signer makes them. */
export async function vendorSignature(
  { method, host, path, query = {}, headers, body }: SignedRequest,
  { keys, region, service, at }: Scope,
): Promise<Readonly<Record<string, string>>> {
  const signer = new SignatureV4({ service, region, credentials: keys, sha256: Sha256 });
  const request = { method, protocol: 'https:', hostname: host, path, query: { ...query }, body };
  const signed = await signer.sign({ ...request, headers: { ...headers, host } }, { signingDate: at });
  const found = proofs.map((name) => [name, signed.headers[name]] as const);
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** SHA-256 as the vendor's signer asks for it. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {}
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return Buffer.from(data);
}
