import { basePathOf } from '../../config/public-url.js';

/**
 * Page of the console to return to after a login, with the base path of the gateway; any other address becomes its
 * first page.
 */
export function returnPath(text: string | undefined, publicUrl: string): string {
  const base = basePathOf(publicUrl);
  const home = `${base}/panel`;
  if (text === undefined || text.length > maxLength || !URL.canParse(text, publicUrl)) return home;
  const { origin, pathname, search } = new URL(text, publicUrl);
  if (origin !== new URL(publicUrl).origin) return home;
  if (isBelow(home, pathname)) return pathname + search;
  return isBelow('/panel', pathname) ? base + pathname + search : home;
}

function isBelow(place: string, pathname: string): boolean {
  return pathname === place || pathname.startsWith(`${place}/`);
}

const maxLength = 500;
