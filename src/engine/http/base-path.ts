import type { IncomingMessage } from 'node:http';

/**
 * Strips the gateway's base path from a request whose proxy has kept it; `basePath` is such as `/llm`, empty for none.
 * Other requests stay unchanged.
 */
export function removeBasePath(request: IncomingMessage, basePath: string): void {
  const { url = '' } = request;
  if (basePath === '' || !url.startsWith(basePath)) return;
  const rest = url.slice(basePath.length);
  if (rest.startsWith('/')) request.url = rest;
  else if (rest === '' || rest.startsWith('?')) request.url = `/${rest}`;
}
