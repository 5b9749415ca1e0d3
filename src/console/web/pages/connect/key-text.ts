import type { Key } from '../../api/types.js';

/**
 * Key in a snippet: its full text if this tab has issued it, else a placeholder with its last four
 * characters.
 */
export function keyText(chosen: Key | undefined, issued: ReadonlyMap<string, string>): string {
  if (!chosen) return 'YOUR_KEY';
  return issued.get(chosen.id) ?? `sk-gw-…${chosen.last4}`;
}
