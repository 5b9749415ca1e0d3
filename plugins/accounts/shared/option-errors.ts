import { isHeaderValue, type SchemaError } from '@gw2api/gateway/plugin/upstream';

/**
 * Errors of a secret that is sent in a header; surrounding white space is trimmed, as files and pasted text
 * often end in a line feed. Messages do not repeat the secret.
 */
export function secretErrors(key: string, text: string): readonly SchemaError[] {
  const secret = text.trim();
  if (secret === '') return [{ path: [key], message: 'must not be blank' }];
  if (isHeaderValue(secret)) return [];
  const message = 'contains a line break or another character that no HTTP header can hold';
  return [{ path: [key], message }];
}

/** Errors of an option that names a service; messages do not repeat it, because it may hold a password. */
export function urlErrors(key: string, url: string): readonly SchemaError[] {
  const protocol = URL.canParse(url) ? new URL(url).protocol : 'none';
  if (['http:', 'https:'].includes(protocol)) return [];
  return [{ path: [key], message: 'must be a URL that begins with http:// or https://' }];
}

/** Error of options of which there must be exactly one. */
export function oneOfErrors(options: object, names: readonly string[]): readonly SchemaError[] {
  const given = Object.entries(options).filter(
    ([name, value]) => names.includes(name) && value !== undefined,
  );
  if (given.length === 1) return [];
  return [{ path: [], message: `must have one of ${names.join(', ')}, and has ${given.length || 'none'}` }];
}
