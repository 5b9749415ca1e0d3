import type { IncomingHttpHeaders } from 'node:http';
import { globMatcher } from '@gw2api/gateway/plugin';

/** Headers that say how a request is to be answered, and which session it belongs to. */
const known = [
  'anthropic-*',
  'content-type',
  'openai-beta',
  'session-id',
  'user-agent',
  'x-claude-code-session-id',
  'x-conversation-id',
  'x-gw-*',
  'x-session-id',
];

/** Names that may be those of secrets, whoever asks for them. */
const secretName = /auth|cookie|credential|key|passw|secret|token/i;

/** Headers of a request that may be kept: the known ones, and those that the globs name; never one of a secret. */
export function keptHeaders(
  headers: IncomingHttpHeaders,
  globs: readonly string[],
): Readonly<Record<string, string>> {
  const isKept = globMatcher([...known, ...globs.map((glob) => glob.toLowerCase())]);
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' && isKept(name) && !secretName.test(name)) kept[name] = value;
  return kept;
}

/** Path and query of a request, without parameters that may be secrets. */
export function keptUrl(url: string): string {
  const [path = '', query = ''] = url.split('?', 2);
  const kept = query.split('&').filter((parameter) => parameter !== '' && !secretName.test(parameter));
  return kept.length === 0 ? path : `${path}?${kept.join('&')}`;
}
