import type { CustomFetch } from 'openid-client';
import { externalFetch, type TlsSettings } from '../../../plugin/internal.js';

/** Max bytes of an answer of the provider, decompressed. */
const maxBytes = 1024 * 1024;

/** Error of an answer that is larger than any of a provider. */
export class OversizedAnswer extends Error {}

/** Fetch for `openid-client` that reads the whole answer, up to a limit, within the time of the signal. */
export function boundedFetch(tls?: TlsSettings): CustomFetch {
  const fetchFrom = externalFetch(tls);
  return async (url, { body, ...options }) => whole(await fetchFrom(url, { ...options, body: body ?? null }));
}

async function whole(response: Response): Promise<Response> {
  const bytes = await readAll(response);
  const { status, headers } = response;
  return new Response(bytes.length === 0 ? null : bytes, { status, headers });
}

async function readAll({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > maxBytes) throw new OversizedAnswer(`it is larger than ${maxBytes / 1024} kB`); // ends the body too
    chunks.push(chunk);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
