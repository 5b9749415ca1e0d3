import type { SlotChange } from './contract/slot-history.js';

/** True if a change is later than the last one of its slot, and differs from it. */
export function isNewChange(last: SlotChange | undefined, change: SlotChange): boolean {
  return !last || (last.atMs < change.atMs && !isSameState(last, change));
}

function isSameState(before: SlotChange, after: SlotChange): boolean {
  return (
    before.state === after.state &&
    before.reason === after.reason &&
    before.models.length === after.models.length &&
    before.models.every((model, at) => model === after.models[at])
  );
}
