import type { IncomingMessage } from 'node:http';

/**
 * Takes the path that the gateway is below away from a request whose proxy has kept it; `basePath` is such as `/llm`,
 * empty for none. A request whose proxy has taken it away stays as it is.
 */
export function removeBasePath(request: IncomingMessage, basePath: string): void {
  const { url = '' } = request;
  if (basePath === '' || !url.startsWith(basePath)) return;
  const rest = url.slice(basePath.length);
  if (rest.startsWith('/')) request.url = rest;
  else if (rest === '' || rest.startsWith('?')) request.url = `/${rest}`;
}
