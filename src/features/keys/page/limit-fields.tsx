import { bindTexts, type Drafting } from '../../../console/web/state/use-draft.js';
import { Input } from '../../../console/web/ui/input/field.js';
import type { Limits } from './api.js';

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
  const tied = bindTexts(props);
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

/** Limits of a key or team as typed. */
export interface LimitDraft {
  readonly requestsPerMinute: string;
  readonly tokensPerMinute: string;
  readonly tokensPerDay: string;
  readonly tokensPerMonth: string;
  readonly usdPerDay: string;
  readonly usdPerMonth: string;
  readonly maxConcurrent: string;
}

export function limitDraftOf(limits: Limits | null): LimitDraft {
  const text = (value: number | null | undefined) => (value ? String(value) : '');
  return {
    requestsPerMinute: text(limits?.requests_per_minute),
    tokensPerMinute: text(limits?.tokens_per_minute),
    tokensPerDay: text(limits?.tokens_per_day),
    tokensPerMonth: text(limits?.tokens_per_month),
    usdPerDay: text(limits?.usd_per_day),
    usdPerMonth: text(limits?.usd_per_month),
    maxConcurrent: text(limits?.max_concurrent),
  };
}

/** Limits of the form; null for an empty field. */
export function limitsOf(draft: LimitDraft): Limits {
  return {
    requests_per_minute: numberOf(draft.requestsPerMinute),
    tokens_per_minute: numberOf(draft.tokensPerMinute),
    tokens_per_day: numberOf(draft.tokensPerDay),
    tokens_per_month: numberOf(draft.tokensPerMonth),
    usd_per_day: numberOf(draft.usdPerDay),
    usd_per_month: numberOf(draft.usdPerMonth),
    max_concurrent: numberOf(draft.maxConcurrent),
  };
}

function numberOf(text: string): number | null {
  return text.trim() ? Number(text) : null;
}
