import { masterName } from '../dry-run/keys.js';
import type { DryRequest } from '../dry-run/outcome.js';
import type { Recording } from './recording.js';

/** Request to send for a recording: the one that was recorded, or the stand-in of a Messages request. */
export function requestOf(recording: Recording): DryRequest {
  const { method, url, headers, body, request } = recording;
  const sent = { headers, key: keyOf(recording) };
  if (!request) return { ...sent, method, path: url, body };
  const isStreamed = recording.delivery === 'stream';
  const standIn = standIns[recording.format];
  // Of a format that is not built in only the Messages request is known.
  if (!standIn) return { ...sent, path: '/v1/messages', body: { ...request, stream: isStreamed } };
  return {
    ...sent,
    method,
    path: url,
    body: { model: request.model, stream: isStreamed, ...standIn(request) },
  };
}

/**
 * Bodies that the formats decode, so that the answer has the caller's format; the entry stage puts the recorded
 * request in their place.
 */
const standIns: Readonly<Record<string, (request: NonNullable<Recording['request']>) => object>> = {
  messages: (request) => request,
  chat: () => ({ messages: [{ role: 'user', content: '-' }] }),
  responses: () => ({ input: '-', store: false }),
  completions: () => ({ prompt: '-' }),
};

/** Name of the key to send it with; a key is issued by that name, without limits. */
function keyOf({ caller: { kind, keyId, name } }: Recording): string | null {
  if (kind === 'anonymous') return null;
  if (kind === 'master') return masterName;
  return name === masterName ? keyId : name;
}
