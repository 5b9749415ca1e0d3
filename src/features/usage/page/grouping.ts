import type { UsageGroup } from '../../../console/web/api/ledger.js';
import type { Option } from '../../../console/web/ui/input/select.js';

/** Grouping of the usage; `tag`: by the values of this usage tag. */
export interface Grouping {
  readonly by: UsageGroup;
  readonly tag?: string;
}

const columns: readonly Option<UsageGroup>[] = [
  { value: 'key', text: 'Key' },
  { value: 'team', text: 'Team' },
  { value: 'slot', text: 'Slot' },
  { value: 'model', text: 'Model' },
  { value: 'format', text: 'Format' },
  { value: 'pipeline', text: 'Pipeline' },
  { value: 'label', text: 'Call of a stage' },
];
const stages: Option<UsageGroup> = { value: 'stage', text: 'Stage (what it added)' };

/** Groupings of the charts: the total, the columns of the ledger, and the first few tags in use. */
export function chartOptions(tags: readonly string[]): readonly Option<string>[] {
  return [{ value: 'total', text: 'Total' }, ...columns, ...tagOptions(tags)];
}

/** Groupings of the breakdown: those of the charts, and the stages, in place of the total. */
export function breakdownOptions(tags: readonly string[]): readonly Option<string>[] {
  return [...columns, ...tagOptions(tags), stages];
}

function tagOptions(tags: readonly string[]): readonly Option<string>[] {
  return tags.slice(0, maxTags).map((tag) => ({ value: `${tagPrefix}${tag}`, text: `Tag ${tag}` }));
}

/** Grouping by the value of its option; undefined: total. */
export function groupingOf(option: string | null): Grouping | undefined {
  if (option?.startsWith(tagPrefix)) return { by: 'tag', tag: option.slice(tagPrefix.length) };
  const column = [...columns, stages].find(({ value }) => value === option);
  return column && { by: column.value };
}

const tagPrefix = 'tag:';
const maxTags = 5;
