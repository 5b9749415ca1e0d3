import type { Subject } from './store.js';

/** True for the same person of a provider; false if one of the two is not known. */
export function isSamePerson(one: Subject | undefined, other: Subject | undefined): boolean {
  return one !== undefined && one.issuer === other?.issuer && one.id === other.id;
}
