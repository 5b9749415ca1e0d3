import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The headers of contract §4.6, the first one sent wins. */
const stickyHeaders = ['x-session-id', 'x-conversation-id', 'x-claude-code-session-id'] as const;

/**
 * The key that keeps a session on its slot, scoped to the caller's key; undefined where nothing names a session.
 * `further`: what else may name it, looked at in order where no header of contract §4.6 was sent. Never pass anything
 * derived from a system prompt: sessions that share it would crowd onto one slot.
 */
export function stickyKey(
  keyId: string,
  headers: IncomingHttpHeaders,
  further: readonly unknown[] = [],
): string | undefined {
  const session = stickyHeaders.map((name) => headers[name]).find(isName) ?? further.find(isName);
  return session && `${keyId}:${createHash('sha256').update(session).digest('hex')}`;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
