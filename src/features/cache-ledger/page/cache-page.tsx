import { useMemo } from 'preact/hooks';
import type { UsageGroup } from '../../../console/web/api/ledger.js';
import { compact, count } from '../../../console/web/format/numbers.js';
import { usd } from '../../../console/web/format/usd.js';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { changeQuery, usePlace } from '../../../console/web/state/location.js';
import { Empty } from '../../../console/web/ui/empty.js';
import { Loaded, Skeleton } from '../../../console/web/ui/loaded.js';
import { Page } from '../../../console/web/ui/page.js';
import { Segmented } from '../../../console/web/ui/input/segmented.js';
import { CauseTable } from './cause-table.js';
import { HitCard } from './hit-card.js';
import { hitChart, hitPercent } from './hit-ratio.js';
import { LossTable } from './loss-table.js';
import { spanInWords, spanNameOf, spanOptions } from './span.js';
import { useCache, type CauseSum } from './use-cache.js';
import './cache-ledger.css';

export const cachePage: ConsolePage = {
  path: '/cache',
  title: 'Cache',
  group: 'Traffic',
  icon: 'cache',
  key: 'h',
  words: 'prompt cache hit ratio lost tokens causes',
  component: CachePage,
};

type Report = NonNullable<ReturnType<typeof useCache>['data']>;

/** Page of the providers' prompt caches: read tokens, and causes of losses. */
function CachePage() {
  const { query } = usePlace();
  const name = spanNameOf(query.get('range'));
  const words = spanInWords(name);
  const by = groups.find(({ value }) => value === query.get('by'))?.value ?? 'total';
  const report = useCache(name, by === 'total' ? null : by);
  return (
    <Page
      title="Cache"
      lead={`What the providers' prompt caches gave in ${words}, and what was lost of them.`}
      actions={
        <Segmented
          label="Time"
          value={name}
          options={spanOptions}
          onValue={(value) => changeQuery({ range: value })}
        />
      }
    >
      <Loaded resource={report} skeleton={<CacheSkeleton />}>
        {(found) =>
          hitPercent(found.usage.data) === null ? (
            <NoInput />
          ) : (
            <Figures report={found} words={words} by={by} />
          )
        }
      </Loaded>
    </Page>
  );
}

const groups: readonly {
  readonly value: 'total' | (UsageGroup & ('model' | 'key' | 'slot'));
  readonly text: string;
}[] = [
  { value: 'total', text: 'Total' },
  { value: 'model', text: 'Model' },
  { value: 'key', text: 'Key' },
  { value: 'slot', text: 'Slot' },
];

interface FiguresProps {
  readonly report: Report;
  readonly words: string;
  readonly by: (typeof groups)[number]['value'];
}

function Figures({ report: { usage, span, causes, losses }, words, by }: FiguresProps) {
  const chart = useMemo(() => hitChart(usage, span), [usage, span]);
  return (
    <>
      <Tiles percent={hitPercent(usage.data)} causes={causes} />
      <Segmented
        label="Split the hit ratio by"
        value={by}
        options={groups}
        onValue={(value) => changeQuery({ by: value === 'total' ? null : value })}
      />
      <HitCard data={chart} words={words} />
      {causes.length === 0 ? (
        <NothingLost />
      ) : (
        <>
          <h2>Causes</h2>
          <CauseTable causes={causes} />
          <h2>Latest turns with losses</h2>
          <LossTable losses={losses} />
        </>
      )}
    </>
  );
}

function Tiles({
  percent,
  causes,
}: {
  readonly percent: number | null;
  readonly causes: readonly CauseSum[];
}) {
  const sum = (pick: (cause: CauseSum) => number) => causes.reduce((total, cause) => total + pick(cause), 0);
  const isCostKnown = causes.some((cause) => cause.usd !== null);
  return (
    <div class="tiles cache-tiles">
      <Tile name="Hit ratio" value={percent === null ? '–' : `${percent.toFixed(1)} %`} note="of all input" />
      <Tile name="Turns that lost" value={count(sum(({ turns }) => turns))} note="of sessions" />
      <Tile
        name="Tokens paid again"
        value={compact(sum(({ tokens }) => tokens))}
        note="that were in a cache"
      />
      <Tile
        name="Cost of that"
        value={isCostKnown ? usd(sum((cause) => cause.usd ?? 0)) : '–'}
        note="where the model has a price"
      />
    </div>
  );
}

function Tile({
  name,
  value,
  note,
}: {
  readonly name: string;
  readonly value: string;
  readonly note: string;
}) {
  return (
    <div class="card tile">
      <h2>{name}</h2>
      <p class="tile-value">{value}</p>
      <p class="tile-note">{note}</p>
    </div>
  );
}

function NoInput() {
  return (
    <div class="card">
      <Empty icon="cache" title="No prompt in this time">
        <p>No request has been billed for input. Choose a longer time.</p>
      </Empty>
    </div>
  );
}

function NothingLost() {
  return (
    <div class="card">
      <Empty icon="check" title="No turn has lost its cache">
        <p>
          Turns are compared within a session: clients that send no session id are not seen here, nor is
          anything with <code>ledger.cacheCauses</code> switched off.
        </p>
      </Empty>
    </div>
  );
}

function CacheSkeleton() {
  return (
    <>
      <div class="tiles cache-tiles">
        {['ratio', 'turns', 'tokens', 'cost'].map((tile) => (
          <div class="card tile" key={tile}>
            <Skeleton rows={2} height={26} />
          </div>
        ))}
      </div>
      <div class="card chart-card">
        <Skeleton rows={1} height={274} />
      </div>
    </>
  );
}
