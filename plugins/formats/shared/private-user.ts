import type { Decoded, FormatContext } from '@gw2api/gateway/plugin/format';

/**
 * Replaces a `user` that the upstream would refuse (an e-mail address, more than 512 characters) by a pseudonym,
 * which is the same in each request.
 */
export function withPrivateUser(decoded: Decoded, context: FormatContext): Decoded | Promise<Decoded> {
  const user = decoded.request.metadata?.user_id;
  return typeof user === 'string' && isRefused(user) ? hidden(decoded, user, context) : decoded;
}

const maxLength = 512;

function isRefused(user: string): boolean {
  return user.length > maxLength || /[^\s@<]@[^\s@.]+\.[^\s@]/.test(user);
}

async function hidden(decoded: Decoded, user: string, context: FormatContext): Promise<Decoded> {
  const user_id = await context.pseudonym(user);
  const { request } = decoded;
  return { ...decoded, request: { ...request, metadata: { ...request.metadata, user_id } } };
}
