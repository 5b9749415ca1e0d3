import type { UsageGroup } from '../../api/types.js';
import type { Option } from '../../ui/select.js';

/** Grouping of the usage; `tag`: by the values of this usage tag. */
export interface Grouping {
  readonly by: UsageGroup;
  readonly tag?: string;
}

/** Options of a choice of groupings: total, the columns of the ledger, and the first few tags in use. */
export function groupingOptions(tags: readonly string[]): readonly Option<string>[] {
  return [...columns, ...tags.slice(0, maxTags).map((tag) => ({ value: `${tagPrefix}${tag}`, text: tag }))];
}

/** Grouping by the value of its option; undefined: total. */
export function groupingOf(option: string | null): Grouping | undefined {
  if (option?.startsWith(tagPrefix)) return { by: 'tag', tag: option.slice(tagPrefix.length) };
  const by = (['key', 'slot', 'model'] as const).find((column) => column === option);
  return by && { by };
}

const columns: readonly Option<string>[] = [
  { value: 'total', text: 'Total' },
  { value: 'key', text: 'Key' },
  { value: 'slot', text: 'Slot' },
  { value: 'model', text: 'Model' },
];

const tagPrefix = 'tag:';
const maxTags = 3;
