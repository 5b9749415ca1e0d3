import { Input } from '../../ui/field.js';
import type { KeyDraft } from './key-draft.js';

export interface KeyFieldsProps {
  readonly draft: KeyDraft;
  readonly change: (part: Partial<KeyDraft>) => void;
}

export function KeyFields({ draft, change }: KeyFieldsProps) {
  return (
    <>
      <Input
        label="Name"
        value={draft.name}
        onValue={(name) => change({ name })}
        placeholder="alice, ci, support-bot"
        hint="Stands in the ledger and in the logs."
        required
      />
      <Input
        label="Note"
        value={draft.note}
        onValue={(note) => change({ note })}
        placeholder="What it is for"
      />
      <LimitFields draft={draft} change={change} />
      <fieldset>
        <legend>Reach</legend>
        <div class="columns">
          <Input
            label="Models"
            value={draft.models}
            onValue={(models) => change({ models })}
            placeholder="all"
            hint="Catalog ids with commas between them; * stands for any text."
            mono
          />
          <Input
            label="Ends"
            type="datetime-local"
            value={draft.expires}
            onValue={(expires) => change({ expires })}
            hint="Empty: it does not end by itself."
          />
        </div>
      </fieldset>
    </>
  );
}

const limitFields: readonly { readonly field: keyof KeyDraft; readonly label: string }[] = [
  { field: 'requestsPerMinute', label: 'Requests a minute' },
  { field: 'tokensPerMinute', label: 'Tokens a minute' },
  { field: 'tokensPerDay', label: 'Tokens a day' },
  { field: 'tokensPerMonth', label: 'Tokens a month' },
];

function LimitFields({ draft, change }: KeyFieldsProps) {
  return (
    <fieldset>
      <legend>Limits</legend>
      <div class="columns">
        {limitFields.map(({ field, label }) => (
          <Input
            key={field}
            label={label}
            type="number"
            min={1}
            value={draft[field]}
            onValue={(text) => change({ [field]: text })}
            placeholder="no limit"
          />
        ))}
      </div>
    </fieldset>
  );
}
