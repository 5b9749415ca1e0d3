import type { Stage } from '../../api/types.js';
import { Badge } from '../../ui/badge.js';
import { CopyButton } from '../../ui/copy-button.js';

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
        <Options stage={stage} />
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

function Options({ stage: { options, enabled } }: { readonly stage: Stage }) {
  const entries = Object.entries(options);
  if (entries.length === 0) return null;
  return (
    <dl class="options" aria-label={enabled ? 'Options' : 'Options, as written'}>
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt class="mono">{name}</dt>
          <dd class="mono wrap">{optionText(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function optionText(value: unknown): string {
  if (value === '') return '(empty)';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
