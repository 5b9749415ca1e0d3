import type { SlotCall } from '@gw2api/gateway/plugin';

/** Value that is sent in place of a refused one; empty: none. Undefined where nothing of this name was refused. */
export function entryValue(without: SlotCall['without'], name: string): string | undefined {
  if (!without) return undefined;
  for (const entry of without) {
    if (entry === name) return '';
    if (entry.startsWith(`${name}=`)) return entry.slice(name.length + 1);
  }
  return undefined;
}
