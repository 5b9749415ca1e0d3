import { isHeaderValue, type OptionFault } from 'gw2api/plugin/upstream';

/**
 * Faults of a secret that is sent in a header; surrounding white space is trimmed, as files and pasted text
 * often end in a line feed. Messages do not repeat the secret.
 */
export function secretFaults(key: string, text: string): readonly OptionFault[] {
  const secret = text.trim();
  if (secret === '') return [{ path: [key], message: 'must not be blank' }];
  if (isHeaderValue(secret)) return [];
  const message = 'has a line end or another character within it that no HTTP header can hold';
  return [{ path: [key], message }];
}
