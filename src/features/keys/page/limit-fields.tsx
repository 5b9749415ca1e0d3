import { tie, type Drafting } from '../../../console/web/state/use-draft.js';
import { Input } from '../../../console/web/ui/input/field.js';
import type { LimitDraft } from './limit-draft.js';

interface LimitField {
  readonly field: keyof LimitDraft;
  readonly label: string;
}

const limitFields: readonly LimitField[] = [
  { field: 'maxConcurrent', label: 'Requests at a time' },
  { field: 'requestsPerMinute', label: 'Requests a minute' },
  { field: 'tokensPerMinute', label: 'Tokens a minute' },
  { field: 'tokensPerDay', label: 'Tokens a day' },
  { field: 'tokensPerMonth', label: 'Tokens a month' },
];

const budgetFields: readonly LimitField[] = [
  { field: 'usdPerDay', label: 'USD a day' },
  { field: 'usdPerMonth', label: 'USD a month' },
];

/** Limits and budgets of a key or a team. */
export function LimitFields(props: Drafting<LimitDraft>) {
  const tied = tie(props);
  return (
    <>
      <fieldset>
        <legend>Limits</legend>
        <div class="columns">
          {limitFields.map(({ field, label }) => (
            <Input key={field} label={label} type="number" min={1} {...tied(field)} placeholder="no limit" />
          ))}
        </div>
      </fieldset>
      <fieldset>
        <legend>Budgets</legend>
        <div class="columns">
          {budgetFields.map(({ field, label }) => (
            <Input
              key={field}
              label={label}
              type="number"
              min={0.000_001}
              step="any"
              {...tied(field)}
              placeholder="no budget"
            />
          ))}
        </div>
        <p class="hint">
          Of what the upstream bills, by days and months in UTC. Models without a price are refused.
        </p>
      </fieldset>
    </>
  );
}
