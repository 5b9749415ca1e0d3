import { createStore, useStore } from './store.js';

/** Current location of the page, below `/panel`. */
export interface Place {
  /** Path such as `/`, `/slots`, `/requests/req_1`: no trailing slash. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const base = '/panel';
const place = createStore(readPlace());

window.addEventListener('popstate', () => place.set(readPlace()));

export function usePlace(): Place {
  return useStore(place);
}

/** Navigates to a path below `/panel`, query included. */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const url = hrefOf(to);
  if (replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  place.set(readPlace());
  if (!replace) window.scrollTo(0, 0);
}

/** Changes query parameters of the current page; null or an empty text removes one. */
export function changeQuery(changes: Readonly<Record<string, string | null>>): void {
  const { path, query } = readPlace();
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const search = query.toString();
  navigate(`${path}${search && `?${search}`}`, { replace: true });
}

/** URL of a path below `/panel`. */
export function hrefOf(to: string): string {
  return to === '/' ? base : to.startsWith('/?') ? `${base}${to.slice(1)}` : `${base}${to}`;
}

function readPlace(): Place {
  const { pathname, search } = window.location;
  const path = pathname.slice(base.length).replace(/\/+$/, '');
  return { path: path || '/', query: new URLSearchParams(search) };
}
