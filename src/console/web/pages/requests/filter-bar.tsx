import { useEffect, useState } from 'preact/hooks';
import { panel } from '../../api/panel.js';
import { changeQuery } from '../../state/location.js';
import { useResource } from '../../state/use-resource.js';
import { Button } from '../../ui/button.js';
import { Input } from '../../ui/field.js';
import { Select, type Option } from '../../ui/select.js';
import { filterNames, formatOptions, outcomeOptions, type FilterName, type Filters } from './filters.js';

/** Filters of the list. Kept in the URL, so that a link shows the same list to others. */
export function FilterBar({ filters }: { readonly filters: Filters }) {
  const choices = useChoices();
  const set = (name: FilterName) => (value: string) => changeQuery({ [name]: value });
  const isNarrowed = Object.keys(filters).length > 0;
  const [isFolded, setFolded] = useState(!isNarrowed); // on a phone, where they take half of the page
  return (
    <div class={isFolded ? 'filters filters-folded' : 'filters'} role="search" aria-label="Filters">
      <SearchField value={filters.request_id ?? ''} onValue={set('request_id')} />
      <span class="filters-toggle">
        <Button icon="search" onClick={() => setFolded(!isFolded)}>
          {isFolded ? 'More filters' : 'Fewer filters'}
        </Button>
      </span>
      <Select label="Outcome" value={filters.failed ?? ''} options={outcomeOptions} onValue={set('failed')} />
      <Select
        label="Key"
        value={filters.key ?? ''}
        options={withOwn(choices.keys, filters.key)}
        onValue={set('key')}
      />
      <Select
        label="Slot"
        value={filters.slot ?? ''}
        options={withOwn(choices.slots, filters.slot)}
        onValue={set('slot')}
      />
      <Select
        label="Model"
        value={filters.model ?? ''}
        options={withOwn(choices.models, filters.model)}
        onValue={set('model')}
      />
      <Select label="Format" value={filters.format ?? ''} options={formatOptions} onValue={set('format')} />
      <Button
        icon="close"
        disabled={!isNarrowed}
        onClick={() => changeQuery(Object.fromEntries(filterNames.map((name) => [name, null])))}
      >
        Clear
      </Button>
    </div>
  );
}

/** Debounced search field: each change sends a request. */
function SearchField({
  value,
  onValue,
}: {
  readonly value: string;
  readonly onValue: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return undefined;
    const timer = setTimeout(() => onValue(text.trim()), 350);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <Input label="Request id" type="search" value={text} onValue={setText} placeholder="x-request-id" mono />
  );
}

interface Choices {
  readonly keys: readonly Option<string>[];
  readonly slots: readonly Option<string>[];
  readonly models: readonly Option<string>[];
}

function useChoices(): Choices {
  const { data } = useResource('choices', async (signal) => {
    const [keys, slots, models] = await Promise.all([
      panel.keys(signal),
      panel.slots(signal),
      panel.models(signal),
    ]);
    return { keys, slots, models };
  });
  return {
    keys: [
      { value: '', text: 'Any key' },
      ...(data?.keys ?? []).map(({ id, name, last4 }) => ({ value: id, text: `${name} …${last4}` })),
    ],
    slots: [
      { value: '', text: 'Any slot' },
      ...(data?.slots ?? []).map(({ id }) => ({ value: id, text: id })),
    ],
    models: [
      { value: '', text: 'Any model' },
      ...(data?.models ?? []).map(({ id }) => ({ value: id, text: id })),
    ],
  };
}

/** Options with the current value added: the URL may name a key, slot or model that no longer exists. */
function withOwn(options: readonly Option<string>[], value: string | undefined): readonly Option<string>[] {
  if (!value || options.some((option) => option.value === value)) return options;
  return [...options, { value, text: value }];
}
