import type { Key } from '../../api/types.js';

/** What stands for the key in a snippet: the key itself where this tab has issued it, else what one recognises it by. */
export function keyText(chosen: Key | undefined, issued: ReadonlyMap<string, string>): string {
  if (!chosen) return 'YOUR_KEY';
  return issued.get(chosen.id) ?? `sk-gw-…${chosen.last4}`;
}
