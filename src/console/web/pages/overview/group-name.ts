import type { UsageBucket } from '../../api/types.js';
import { formatWords } from '../../format/words.js';

/** What a group is called; requests of the master key have no key, and refused ones often no slot or model. */
export function groupName({ group, name }: Pick<UsageBucket, 'group' | 'name'>): string {
  if (!group) return 'none';
  return name ?? formatWords[group] ?? group;
}
