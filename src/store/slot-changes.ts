import type { SlotChange } from '../plugin/internal.js';

/** True where a change says nothing that the one before it does not. */
export function isSameState(before: SlotChange, after: SlotChange): boolean {
  return (
    before.state === after.state &&
    before.reason === after.reason &&
    before.models.length === after.models.length &&
    before.models.every((model, at) => model === after.models[at])
  );
}
