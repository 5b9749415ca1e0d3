import { panel } from '../../api/panel.js';
import type { UsageBucket, UsageGroup } from '../../api/types.js';
import { allTokens, compact, count } from '../../format/numbers.js';
import { useResource } from '../../state/use-resource.js';
import { Link } from '../../ui/link.js';
import { Loaded, Skeleton } from '../../ui/loaded.js';
import { Card } from '../../ui/page.js';
import { groupBy } from '../../format/group-by.js';
import type { Grouping } from './grouping.js';
import { groupName } from './group-name.js';

const shown = 6;

interface BreakdownsProps {
  readonly fromMs: number;
  readonly toMs: number;
}

interface AllBreakdownsProps extends BreakdownsProps {
  /** Usage tags in this time. */
  readonly tags: readonly string[];
}

/** Usage by group: the largest of each kind, with links to their requests. */
export function Breakdowns({ tags, ...props }: AllBreakdownsProps) {
  return (
    <div class="breakdowns">
      <Breakdown title="Keys" by="key" {...props} />
      <Breakdown title="Slots" by="slot" {...props} />
      <Breakdown title="Models" by="model" {...props} />
      {tags.slice(0, shown).map((tag) => (
        <Breakdown key={tag} title={`Tag ${tag}`} by="tag" tag={tag} {...props} />
      ))}
    </div>
  );
}

interface BreakdownProps extends BreakdownsProps, Grouping {
  readonly title: string;
}

function Breakdown({ title, by, tag, fromMs, toMs }: BreakdownProps) {
  const step = `${(toMs - fromMs) / 1000}s`;
  const usage = useResource(
    `${by} ${tag} ${fromMs}`,
    (signal) => panel.usage({ from: fromMs, to: toMs, by, tag, step }, signal),
    15_000,
  );
  return (
    <Card title={title} class="breakdown" aside={<span class="dim">requests · tokens</span>}>
      <Loaded resource={usage} skeleton={<Skeleton rows={4} height={30} />}>
        {({ data }) => <Shares by={by} buckets={mergeGroups(data)} />}
      </Loaded>
    </Card>
  );
}

function Shares({ by, buckets }: { readonly by: UsageGroup; readonly buckets: readonly UsageBucket[] }) {
  const max = Math.max(1, ...buckets.map(({ requests }) => requests));
  if (buckets.length === 0) return <p class="dim">Nothing in this time.</p>;
  return (
    <ol class="shares">
      {buckets.slice(0, shown).map((bucket) => (
        <li key={bucket.group}>
          <span class="share-bar" style={{ width: `${(bucket.requests / max) * 100}%` }} />
          <ShareName by={by} bucket={bucket} />
          <span class="num">
            {count(bucket.requests)} <span class="dim">· {compact(allTokens(bucket.billed))}</span>
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Name of a group, linked to its requests if the group is known. */
function ShareName({ by, bucket }: { readonly by: UsageGroup; readonly bucket: UsageBucket }) {
  const { group } = bucket;
  if (!group) return <span class="dim">{by === 'key' ? 'Master key or none' : 'none'}</span>;
  const name = groupName(bucket);
  if (by === 'tag') return <span title={name}>{name}</span>;
  return (
    <Link to={`/requests?${by}=${encodeURIComponent(group)}`} title={name}>
      {name}
    </Link>
  );
}

/** Merges the buckets of a group: a range that does not start at a whole hour may be split in two. */
function mergeGroups(buckets: readonly UsageBucket[]): readonly UsageBucket[] {
  const byGroup = groupBy(buckets, ({ group }) => group);
  const merged = [...byGroup.values()].flatMap(([first, ...more]) => {
    if (!first) return [];
    const requests = more.reduce((total, one) => total + one.requests, first.requests);
    const output = more.reduce((total, one) => total + allTokens(one.billed), first.billed.output);
    return [{ ...first, requests, billed: { ...first.billed, output } }];
  });
  return merged.toSorted((a, b) => b.requests - a.requests);
}
