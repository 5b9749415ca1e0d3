import { defaultStickyFrom, sessionName, type MessagesRequest } from '@gw2api/gateway/plugin';
import type { RemoteContext } from './remote.js';

/** Name of the session of a request; undefined if it has none. */
export function sessionOf({ headers, state }: RemoteContext, request: MessagesRequest): string | undefined {
  return sessionName(headers, { from: defaultStickyFrom, body: state.body, request });
}

/** Headers of these lower-case names that the caller has sent. */
export function headersView(
  { headers }: RemoteContext,
  names: readonly string[],
): Readonly<Record<string, string>> {
  const found = names.map((name) => [name, [headers[name] ?? []].flat().join(', ')] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== ''));
}
