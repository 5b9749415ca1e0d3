import type { ComponentChildren } from 'preact';

interface Fact {
  readonly name: string;
  readonly value: ComponentChildren;
}

/** Names and values, side by side or stacked, depending on the width. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
