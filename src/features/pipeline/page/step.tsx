import { groupBy } from '../../../console/web/format/group-by.js';
import type { Stage } from './api.js';
import { StageItem } from './stage-item.js';

/** Stages by the place of their entry: alternatives of one entry are one step. */
export function stepsOf(stages: readonly Stage[]): readonly (readonly [string, readonly Stage[]])[] {
  return [...groupBy(stages, ({ group, path }) => group ?? path)];
}

/** A stage, or the alternatives of one entry. */
export function Step({ stages, number }: { readonly stages: readonly Stage[]; readonly number: number }) {
  const isOneOf = stages.some(({ group }) => group !== null);
  const items = stages.map((stage) => <StageItem key={stage.path} stage={stage} number={number} />);
  if (!isOneOf) return items;
  return (
    <li class="stage-group">
      <p>One of these: the first whose conditions hold.</p>
      <ol>{items}</ol>
    </li>
  );
}
