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
