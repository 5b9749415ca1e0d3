import type { SlotKind } from './api.js';

/** Options of a kind that only the config file may set. */
export function LocalHint({ kind }: { readonly kind: SlotKind | undefined }) {
  const names = (kind?.fields ?? []).filter(({ local }) => local).map(({ path }) => path.join('.'));
  if (names.length === 0) return null;
  return (
    <p class="hint">
      Only a slot of the config file may set <span class="mono">{names.join(', ')}</span>: they read the
      machine of the gateway.
    </p>
  );
}
