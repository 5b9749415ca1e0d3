import type { RecordedRequest } from '../recorded-request.js';
import { badRequest, Refusal } from '../refusal.js';

const versions = new Set(['2023-06-01', '2026-10-21']);

/**
 * Refuses a request without a credential, a known API version and, if it has a body, a JSON one. `isVersioned`: the
 * version is a header.
 */
export function checkHeaders(
  { method, headers, credential }: RecordedRequest,
  { isVersioned }: { readonly isVersioned: boolean },
): void {
  if (credential === '')
    throw new Refusal(
      401,
      'authorization' in headers ? 'Invalid bearer token' : 'x-api-key header is required',
    );
  const version = headers['anthropic-version'];
  if (!isVersioned && version !== undefined)
    throw badRequest('anthropic-version: Extra inputs are not permitted');
  if (isVersioned && version === undefined) throw badRequest('anthropic-version: header is required');
  if (version !== undefined && !versions.has(version))
    throw badRequest(`anthropic-version: "${version}" is not a valid version`);
  if (method === 'POST' && !/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    throw badRequest('Content-Type: must be application/json');
}

/** The body as a value, or its error; an empty one is not JSON either. */
export function parseBody(text: string): { readonly body: unknown; readonly problem?: string } {
  try {
    return { body: JSON.parse(text) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { body: undefined, problem: `The request body is not valid JSON: ${reason}` };
  }
}
