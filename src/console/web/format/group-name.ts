import type { UsageBucket } from '../api/ledger.js';
import { formatWords } from './words.js';

/**
 * Display name of a group; "none" for requests of the master key, which have no key, and for refused ones
 * without a slot or model.
 */
export function groupName({ group, name }: Pick<UsageBucket, 'group' | 'name'>): string {
  if (!group) return 'none';
  return name ?? formatWords[group] ?? group;
}
