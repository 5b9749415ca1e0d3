import { extrasOf, type MessagesRequest } from '@gw2api/gateway/plugin';
import { extraKind, extraPath } from '@gw2api/gateway/plugin/upstream';
import type { CallTerms } from '../call-terms.js';
import type { Dropped } from '../losses/dropped.js';
import { refuses } from './openai-refused.js';
import { addedPart, type FindPart } from '../losses/refused-part.js';
import { sha256 } from './tool-names.js';

/** Hints for a cache or an abuse monitor, which do not affect answers. */
const hints = ['prompt_cache_key', 'prompt_cache_retention', 'safety_identifier'] as const;

/**
 * Body with a `prompt_cache_key` if its caller has given none: the same for each call of a session, and different for
 * each caller. Its 64 characters are OpenAI's limit.
 */
export function withCacheKey<Body extends object>(
  body: Body,
  request: MessagesRequest,
  { stickyKey }: CallTerms,
): Body {
  const isGiven = 'prompt_cache_key' in body || 'prompt_cache_key' in extrasOf(request);
  return stickyKey === undefined || isGiven ? body : { ...body, prompt_cache_key: sha256(stickyKey) };
}

/** Body without the hints that the server has refused; those of the caller are reported. */
export function withoutHints<Body extends object>(
  body: Body,
  request: MessagesRequest,
  { without }: CallTerms,
  dropped: Dropped,
): Body {
  const refused = without ? hints.filter((name) => without.has(name) && name in body) : [];
  if (refused.length === 0) return body;
  const given = extrasOf(request);
  for (const name of refused) if (name in given) dropped.add(extraPath(name), extraKind(name));
  const kept = Object.entries(body).filter(([name]) => !refused.some((hint) => hint === name));
  return Object.fromEntries(kept) as Body; // only optional fields are left out
}

/** A hint that the server does not take, by its name in the refusal. */
export const findHint: FindPart = (said, { request, stickyKey }) => {
  if (!refuses.test(said)) return undefined;
  const given = extrasOf(request);
  const hint = hints.find((name) => said.includes(name));
  if (hint === undefined) return undefined;
  const isSent = hint in given || (hint === 'prompt_cache_key' && stickyKey !== undefined);
  return isSent ? addedPart(hint) : undefined;
};
