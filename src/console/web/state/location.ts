import { basePath } from './base-path.js';
import { createStore, useStore } from './store.js';

/** Current location of the page, below `/panel`. */
export interface Place {
  /** Path such as `/`, `/slots`, `/requests/req_1`: no trailing slash. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const base = `${basePath}/panel`;
const place = createStore(readPlace());

window.addEventListener('popstate', () => place.set(readPlace()));

export function usePlace(): Place {
  return useStore(place);
}

/** Navigates to a path below `/panel`, query included. */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  enter(to, replace);
  if (!replace) window.scrollTo(0, 0);
}

export type QueryChanges = Readonly<Record<string, string | null>>;

/** Changes query parameters of the current page; null or an empty text removes one. `push` adds a history entry. */
export function changeQuery(changes: QueryChanges, { push = false }: { readonly push?: boolean } = {}): void {
  const { path, query } = readPlace();
  const to = withQuery(path, query, changes);
  if (hrefOf(to) !== `${window.location.pathname}${window.location.search}`) enter(to, !push);
}

/** A path with the parameters of `query` as changed. */
export function withQuery(path: string, query: URLSearchParams, changes: QueryChanges): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const search = next.toString();
  return `${path}${search && `?${search}`}`;
}

/** URL of a path below `/panel`. */
export function hrefOf(to: string): string {
  return to === '/' ? base : to.startsWith('/?') ? `${base}${to.slice(1)}` : `${base}${to}`;
}

function enter(to: string, replace: boolean): void {
  const url = hrefOf(to);
  if (replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  place.set(readPlace());
}

function readPlace(): Place {
  const { pathname, search } = window.location;
  // Without the path where the browser has come past the proxy.
  const start = pathname.startsWith(base) ? base.length : '/panel'.length;
  const path = pathname.slice(start).replace(/\/+$/, '');
  return { path: path || '/', query: new URLSearchParams(search) };
}

/** Page of a request in the console, by its id in the ledger. */
export function pathOfRequest(id: string): string {
  return `/requests/${encodeURIComponent(id)}`;
}
