import type { OperatorContext } from '../route.js';

/** Names of the cookies of a session, which have a prefix over https. */
export const sessionCookie = 'gw_session';
export const csrfCookie = 'gw_csrf';

/** Scope of a cookie in a browser. */
interface CookiePlace {
  /** `/`, or the path of the only routes that get it. */
  readonly path: string;
  /** True for a console that browsers reach by https. */
  readonly isSecure: boolean;
}

/** Name of a cookie; over https its prefix keeps pages without it, and at `/` neighbouring hosts, from setting it. */
export function cookieName(name: string, { path, isSecure }: CookiePlace): string {
  if (!isSecure) return name;
  return `${path === '/' ? '__Host-' : '__Secure-'}${name}`;
}

/** Value of a cookie; undefined without one. A name without its prefix is accepted only if the request did not use https. */
export function readCookie(ctx: OperatorContext, name: string, place: CookiePlace): string | undefined {
  const secured = ctx.cookies.get(cookieName(name, { ...place, isSecure: true }));
  return secured || (place.isSecure ? undefined : ctx.cookies.get(name)) || undefined;
}

interface SessionCookies extends CookiePlace {
  readonly token: string;
  readonly csrfToken: string;
  readonly maxAgeSeconds: number;
}

/** Sets the cookies of a session, replacing the browser's; empty values remove them. */
export function setSessionCookies(ctx: OperatorContext, cookies: SessionCookies): void {
  const { token, csrfToken, ...terms } = cookies;
  const other = { ...cookies, isSecure: !cookies.isSecure };
  for (const [name, value] of [
    [sessionCookie, token],
    [csrfCookie, csrfToken],
  ] as const) {
    const isHidden = name === sessionCookie;
    setCookie(ctx, { ...terms, name, value, isHidden, sameSite: 'Strict' });
    if (ctx.cookies.get(cookieName(name, other)) !== undefined)
      setCookie(ctx, { ...other, name, value: '', isHidden, sameSite: 'Strict' });
  }
}

interface PrivateCookie extends CookiePlace {
  /** Without the prefix that https gives it. */
  readonly name: string;
  readonly value: string;
  readonly sameSite: 'Lax' | 'Strict';
  readonly maxAgeSeconds: number;
}

/** Sets a cookie that no script reads; an empty value removes it. */
export function setPrivateCookie(ctx: OperatorContext, cookie: PrivateCookie): void {
  setCookie(ctx, { ...cookie, isHidden: true });
}

/** Avoids `ctx.cookies.set`, which writes Expires, by the browser's clock, and no Max-Age. */
function setCookie(ctx: OperatorContext, cookie: PrivateCookie & { readonly isHidden: boolean }): void {
  const { value, path, sameSite, isSecure, isHidden } = cookie;
  const maxAge = value === '' ? 0 : cookie.maxAgeSeconds;
  const terms = `${isHidden ? 'HttpOnly; ' : ''}Path=${path}; Max-Age=${maxAge}; SameSite=${sameSite}`;
  ctx.append(
    'set-cookie',
    `${cookieName(cookie.name, cookie)}=${value}; ${terms}${isSecure ? '; Secure' : ''}`,
  );
}
