import type { PanelContext } from '../route.js';

export const sessionCookie = 'gw_session';
export const csrfCookie = 'gw_csrf';

interface SessionCookies {
  readonly token: string;
  readonly csrfToken: string;
  readonly maxAgeSeconds: number;
  /** True for a console that browsers reach by https. */
  readonly isSecure: boolean;
}

/** Not by `ctx.cookies.set`, which writes Expires, by the browser's clock, and no Max-Age. */
export function setSessionCookies(ctx: PanelContext, cookies: SessionCookies): void {
  const { token, csrfToken, maxAgeSeconds, isSecure } = cookies;
  const common = `Path=/; Max-Age=${maxAgeSeconds}; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  ctx.append('set-cookie', `${sessionCookie}=${token}; HttpOnly; ${common}`);
  ctx.append('set-cookie', `${csrfCookie}=${csrfToken}; ${common}`);
}

interface PrivateCookie {
  readonly name: string;
  readonly value: string;
  /** Path of the only routes that get it. */
  readonly path: string;
  readonly sameSite: 'Lax' | 'Strict';
  readonly maxAgeSeconds: number;
  readonly isSecure: boolean;
}

/** Sets a cookie that no script reads; an empty value takes it away. */
export function setPrivateCookie(ctx: PanelContext, cookie: PrivateCookie): void {
  const { name, value, path, sameSite, isSecure } = cookie;
  const maxAge = value === '' ? 0 : cookie.maxAgeSeconds;
  const terms = `HttpOnly; Path=${path}; Max-Age=${maxAge}; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`;
  ctx.append('set-cookie', `${name}=${value}; ${terms}`);
}
