import type { CustomFetch } from 'openid-client';
import { collectBytes } from '../../plugin/raw/index.js';
import { externalFetch, type TlsSettings } from '../../plugin/index.js';

/** Max bytes of an answer of the provider, decompressed. */
const maxBytes = 1024 * 1024;

/** Error of an answer that is larger than any of a provider. */
class OversizedAnswer extends Error {}

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
  const tooLarge = () => new OversizedAnswer(`it is larger than ${maxBytes / 1024} kB`);
  return Uint8Array.from(body ? await collectBytes(body, maxBytes, tooLarge) : []);
}
