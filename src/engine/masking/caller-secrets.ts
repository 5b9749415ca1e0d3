import type { IncomingHttpHeaders } from 'node:http';

/** Headers that carry credentials, from any source. */
export const credentialNames: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-amz-security-token',
  'cookie',
]);

/** Credentials in the headers of a caller, with and without their scheme, and the values of its cookies. */
export function callerSecrets(headers: IncomingHttpHeaders = {}): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => credentialNames.has(name.toLowerCase()))
    .flatMap(([name, value]) => [value ?? []].flat().map((text) => [name, text] as const))
    .flatMap(([name, text]) => [
      text,
      text.replace(/^\s*\w+\s+/, ''),
      ...(name.toLowerCase() === 'cookie' ? cookieValues(text) : []),
    ]);
}

function cookieValues(text: string): readonly string[] {
  return text.split(';').map((pair) => pair.slice(pair.indexOf('=') + 1).trim());
}
