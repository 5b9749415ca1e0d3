import type { IncomingHttpHeaders } from 'node:http';

type Headers = Readonly<Record<string, string>>;

/** The caller's headers that may go to an upstream: what belongs to the wire format, never a credential or a hop's own. */
export function forwardedHeaders(headers: IncomingHttpHeaders): Headers {
  return pick(headers, (name) => name.startsWith('anthropic-'));
}

/** The upstream's answer headers that reach the caller (design §6). */
export function answerHeaders(headers: Headers): Headers {
  return pick(headers, (name) => answered.test(name));
}

const answered = /^(?:request-id|retry-after(?:-ms)?|x-should-retry|anthropic-ratelimit-.+|x-ratelimit-.+)$/;

/** About how many tokens a value comes to as JSON: a quarter of its bytes, never 0. */
export function estimateTokens(value: unknown): number {
  return Math.max(1, Math.ceil(Buffer.byteLength(JSON.stringify(value) ?? '') / 4));
}

function pick(headers: IncomingHttpHeaders, isWanted: (name: string) => boolean): Headers {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value !== undefined && isWanted(name) ? [[name, [value].flat().join(', ')]] : [],
    ),
  );
}
