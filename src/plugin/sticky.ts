import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Session headers of contract §4.6; the first one sent wins. */
const stickyHeaders = ['x-session-id', 'x-conversation-id', 'x-claude-code-session-id'] as const;

/**
 * Sticky key of a session, scoped to the caller's key; undefined if nothing names a session. `further`: other
 * names of the session, tried in order without a header of contract §4.6; never anything derived from a
 * system prompt, since sessions that share it would crowd onto one slot.
 */
export function stickyKey(
  keyId: string,
  headers: IncomingHttpHeaders,
  further: readonly unknown[] = [],
): string | undefined {
  const session = sessionName(headers, further);
  return session && `${keyId}:${createHash('sha256').update(session).digest('hex')}`;
}

/** Name of a session as the caller wrote it; undefined if nothing names one. */
export function sessionName(
  headers: IncomingHttpHeaders,
  further: readonly unknown[] = [],
): string | undefined {
  return stickyHeaders.map((name) => headers[name]).find(isName) ?? further.find(isName);
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
