import type { IncomingHttpHeaders } from 'node:http';
import { credentialNames } from '../../kit/credential-names.js';

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
