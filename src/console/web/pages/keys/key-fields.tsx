import { tie, type Drafting } from '../../state/use-draft.js';
import { Input } from '../../ui/field.js';
import type { KeyDraft } from './key-draft.js';

export function KeyFields(props: Drafting<KeyDraft>) {
  const tied = tie(props);
  return (
    <>
      <Input
        label="Name"
        {...tied('name')}
        placeholder="alice, ci, support-bot"
        hint="Stands in the ledger and in the logs."
        required
      />
      <Input label="Note" {...tied('note')} placeholder="What it is for" />
      <LimitFields {...props} />
      <fieldset>
        <legend>Reach</legend>
        <div class="columns">
          <Input
            label="Models"
            {...tied('models')}
            placeholder="all"
            hint="Catalog ids with commas between them; * stands for any text."
            mono
          />
          <Input
            label="Slots"
            {...tied('slots')}
            placeholder="all"
            hint="Slot ids with commas between them; * stands for any text."
            mono
          />
          <Input
            label="Ends"
            type="datetime-local"
            {...tied('expires')}
            hint="Empty: it does not end by itself."
          />
        </div>
      </fieldset>
    </>
  );
}

const limitFields: readonly { readonly field: keyof KeyDraft; readonly label: string }[] = [
  { field: 'maxConcurrent', label: 'Requests at a time' },
  { field: 'requestsPerMinute', label: 'Requests a minute' },
  { field: 'tokensPerMinute', label: 'Tokens a minute' },
  { field: 'tokensPerDay', label: 'Tokens a day' },
  { field: 'tokensPerMonth', label: 'Tokens a month' },
];

function LimitFields(props: Drafting<KeyDraft>) {
  const tied = tie(props);
  return (
    <fieldset>
      <legend>Limits</legend>
      <div class="columns">
        {limitFields.map(({ field, label }) => (
          <Input key={field} label={label} type="number" min={1} {...tied(field)} placeholder="no limit" />
        ))}
      </div>
    </fieldset>
  );
}
