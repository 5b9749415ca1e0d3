import type { CustomFetch } from 'openid-client';

/** Max bytes of an answer of the provider, decompressed. */
const maxBytes = 1024 * 1024;

/** Error of an answer that is larger than any of a provider. */
export class OversizedAnswer extends Error {}

/** Fetch for `openid-client` that reads the whole answer, up to a limit, within the time of the signal. */
export const boundedFetch: CustomFetch = async (url, { body, ...options }) => {
  const response = await fetch(url, { ...options, body: body ?? null });
  const bytes = await readAll(response);
  const { status, headers } = response;
  return new Response(bytes.length === 0 ? null : bytes, { status, headers });
};

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
