import { Badge } from '../../../console/web/ui/badge.js';
import { CopyButton } from '../../../console/web/ui/copy-button.js';
import type { Field, Stage } from './api.js';
import { Options } from './option-table.js';
import { count, duration } from '../../../console/web/format/numbers.js';

export function StageItem({ stage, number }: { readonly stage: Stage; readonly number: number }) {
  const { name, use, enabled, place, mark = 'same' } = stage;
  return (
    <li class={`stage card${enabled && mark !== 'removed' ? '' : ' stage-off'}`}>
      <span class="stage-number num" aria-hidden="true">
        {number}
      </span>
      <div class="stage-body">
        <header>
          <h2>{name}</h2>
          {use !== name && <span class="mono dim">{use}</span>}
          {mark !== 'same' && (
            <Badge tone="idle" icon="pipeline">
              {marks[mark]}
            </Badge>
          )}
          {!enabled && (
            <Badge tone="idle" icon="switch">
              Switched off
            </Badge>
          )}
          <span class="stage-place">
            <span class="mono dim">{place}</span>
            <CopyButton text={place} what="its place in the file" />
          </span>
        </header>
        {enabled && <Keys stage={stage} />}
        <When stage={stage} />
        {enabled && <StageFigures times={stage.times} />}
        {enabled ? <Options fields={stage.fields} /> : <Hidden fields={stage.fields} />}
      </div>
    </li>
  );
}

const marks = { added: 'Added', changed: 'Changed', removed: 'Removed' } as const;

/**
 * State keys of a stage: required from earlier stages, provided to later ones, and sealed against
 * replacement.
 */
function Keys({ stage: { requires, provides, seals, operations } }: { readonly stage: Stage }) {
  return (
    <dl class="stage-keys">
      <KeyList name="Requires" keys={requires} look="needs" />
      <KeyList name="Provides" keys={provides} look="gives" />
      <KeyList name="Seals" keys={seals} look="seals" />
      <KeyList name="Runs for" keys={operations} look="plain" />
    </dl>
  );
}

interface KeyListProps {
  readonly name: string;
  readonly keys: readonly string[];
  readonly look: 'needs' | 'gives' | 'seals' | 'plain';
}

function KeyList({ name, keys, look }: KeyListProps) {
  if (keys.length === 0) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {keys.map((key) => (
          <code key={key} class={`chip chip-${look}`}>
            {key}
          </code>
        ))}
      </dd>
    </div>
  );
}

function When({ stage: { conditions } }: { readonly stage: Stage }) {
  if (conditions.length === 0) return null;
  return <p class="stage-when">Only where {conditions.join(', and ')}.</p>;
}

/** The options of a disabled stage: without its plugin it is unknown which are secrets. */
function Hidden({ fields }: { readonly fields: readonly Field[] }) {
  if (fields.length === 0) return null;
  return (
    <p class="stage-when">
      Sets <span class="mono wrap">{fields.map(({ path }) => path).join(', ')}</span>; the values are shown
      once it is switched on.
    </p>
  );
}

/** A stage's own time since the start of the gateway, and its faults. */
function StageFigures({ times }: { readonly times: Stage['times'] }) {
  const { count: requests, p50_ms: p50, p95_ms: p95, faults, skips } = times;
  if (requests === 0 && faults === 0 && skips === 0)
    return <p class="stage-when dim">No request has come to it since the start.</p>;
  return (
    <dl class="stage-times" aria-label="Its own time since the start">
      <Figure
        name="time p50"
        title="Half of the requests took at most this long in this stage"
        value={timeText(p50)}
      />
      <Figure
        name="time p95"
        title="95 % of the requests took at most this long in this stage"
        value={timeText(p95)}
      />
      <Figure name="requests" title="Requests that have passed it" value={count(requests)} />
      <Figure name="faults" title="Requests that it has failed" value={count(faults)} isBad={faults > 0} />
      <Figure
        name="skips"
        title="Requests that continued without it after it failed"
        value={count(skips)}
        isBad={skips > 0}
      />
    </dl>
  );
}

/** Median time as text; the outer buckets of the histogram show only their bound. */
function timeText(ms: number | null): string {
  if (ms === null) return '–';
  if (ms <= 0.1) return '< 0.1 ms';
  return ms >= 60_000 ? '≥ 60 s' : duration(ms);
}

interface FigureProps {
  readonly name: string;
  readonly title: string;
  readonly value: string;
  readonly isBad?: boolean;
}

function Figure({ name, title, value, isBad = false }: FigureProps) {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd class={isBad ? 'num stage-bad' : 'num'}>{value}</dd>
    </div>
  );
}
