import { unescape } from 'node:querystring';

/**
 * Address and headers of exports, from the address of a collector, with or without `/v1/traces`. A user in the address
 * becomes an `authorization`, unless the headers have one.
 */
export function targetOf(
  address: string,
  headers: Readonly<Record<string, string>>,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  const url = new URL(address);
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith('/v1/traces') ? path : `${path}/v1/traces`;
  const sent = new Headers();
  const user = `${unescape(url.username)}:${unescape(url.password)}`;
  if (user !== ':') sent.set('authorization', `Basic ${Buffer.from(user).toString('base64')}`);
  [url.username, url.password] = ['', ''];
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  sent.set('content-type', 'application/json');
  return { url: url.href, headers: Object.fromEntries(sent) };
}
