import type { Explanation } from '../explanation.js';

type Stage = Explanation['stages'][number];

/** Changes of a request, a line each. */
export function RequestChangeList({ changes: { changes, more } }: { readonly changes: Stage['request'] }) {
  if (changes.length === 0) return null;
  return (
    <ul class="explained-changes mono">
      {changes.map((change) => (
        <li key={change.path} class={lookOf(change)}>
          <span>{change.path || 'request'}</span>
          {'before' in change && <del>{textOf(change.before)}</del>}
          {'after' in change && <ins>{textOf(change.after)}</ins>}
        </li>
      ))}
      {more !== undefined && <li>and {more} more</li>}
    </ul>
  );
}

function lookOf(change: object): string {
  if (!('before' in change)) return 'change-new';
  return 'after' in change ? 'change-other' : 'change-gone';
}

/** Keys of the state that a stage has set. */
export function StateNotes({ state }: { readonly state: Stage['state'] }) {
  if (state.length === 0) return null;
  return (
    <p class="dim wrap explained-note">
      {state
        .map(({ key, change, value }) => `${change} ${key}${value === undefined ? '' : ` ${textOf(value)}`}`)
        .join('; ')}
    </p>
  );
}

/** Changes in the answer's events. */
export function EventNotes({ events }: { readonly events: Stage['events'] }) {
  if (!events) return null;
  const { types, usage, textChanged, characters } = events;
  const notes = [...Object.entries(types), ...Object.entries(usage)].map(
    ([name, [before, after]]) => `${name} ${before ?? 'none'} → ${after ?? 'none'}`,
  );
  const text = textChanged ? [`text ${characters.join(' → ')} characters`] : [];
  return <p class="wrap explained-note">Answer: {[...notes, ...text].join(', ')}</p>;
}

/** A JSON value as text, indented. */
export function Json({ value }: { readonly value: unknown }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, and has to without a mouse
    <pre class="explained-json" tabIndex={0}>
      {typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
    </pre>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
