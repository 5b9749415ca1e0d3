import { Badge } from '../../../console/web/ui/badge.js';
import { CopyButton } from '../../../console/web/ui/copy-button.js';
import type { Field, Stage } from './api.js';
import { Options } from './option-table.js';
import { StageFigures } from './stage-figures.js';

export function StageItem({ stage, number }: { readonly stage: Stage; readonly number: number }) {
  const { name, use, enabled, place } = stage;
  return (
    <li class={`stage card${enabled ? '' : ' stage-off'}`}>
      <span class="stage-number num" aria-hidden="true">
        {number}
      </span>
      <div class="stage-body">
        <header>
          <h2>{name}</h2>
          {use !== name && <span class="mono dim">{use}</span>}
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

/** The options of a stage that is switched off: without its plugin nobody knows which are secrets. */
function Hidden({ fields }: { readonly fields: readonly Field[] }) {
  if (fields.length === 0) return null;
  return (
    <p class="stage-when">
      Sets <span class="mono wrap">{fields.map(({ path }) => path).join(', ')}</span>; the values are shown
      once it is switched on.
    </p>
  );
}
