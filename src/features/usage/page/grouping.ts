import type { UsageGroup } from '../../../console/web/api/ledger.js';
import type { Option } from '../../../console/web/ui/input/select.js';

/** Grouping of the usage; `tag`: by the values of this usage tag. */
export interface Grouping {
  readonly by: UsageGroup;
  readonly tag?: string;
}

const columns: readonly Option<string>[] = [
  { value: 'key', text: 'Key' },
  { value: 'team', text: 'Team' },
  { value: 'slot', text: 'Slot' },
  { value: 'model', text: 'Model' },
  { value: 'format', text: 'Format' },
];

/** Options of a choice of groupings: the columns of the ledger, and the first few tags in use. */
export function groupOptions(tags: readonly string[]): readonly Option<string>[] {
  const used = tags.slice(0, maxTags).map((tag) => ({ value: `${tagPrefix}${tag}`, text: `Tag ${tag}` }));
  return [...columns, ...used];
}

/** Same with the total. */
export function groupingOptions(tags: readonly string[]): readonly Option<string>[] {
  return [{ value: 'total', text: 'Total' }, ...groupOptions(tags)];
}

/** Grouping by the value of its option; undefined: total. */
export function groupingOf(option: string | null): Grouping | undefined {
  if (option?.startsWith(tagPrefix)) return { by: 'tag', tag: option.slice(tagPrefix.length) };
  const by = (['key', 'team', 'slot', 'model', 'format', 'stage'] as const).find((name) => name === option);
  return by && { by };
}

const tagPrefix = 'tag:';
const maxTags = 5;
