import { useEffect, useState } from 'preact/hooks';
import { changeQuery } from '../../state/location.js';
import { Button } from '../../ui/button.js';
import { Input } from '../../ui/field.js';
import { Select, type Option } from '../../ui/select.js';
import {
  actionOptions,
  filterNames,
  inputTime,
  outcomeOptions,
  timeFilter,
  type FilterName,
  type Filters,
} from './filters.js';

/** Filters of the log. Kept in the URL, so that a link shows the same entries to others. */
export function FilterBar({ filters }: { readonly filters: Filters }) {
  const set = (name: FilterName) => (value: string) => changeQuery({ [name]: value });
  const isNarrowed = Object.keys(filters).length > 0;
  const [isFolded, setFolded] = useState(!isNarrowed); // on a phone, where they take half of the page
  return (
    <div
      class={isFolded ? 'audit-filters audit-filters-folded' : 'audit-filters'}
      role="search"
      aria-label="Filters"
    >
      <LateInput label="Who" value={filters.actor} onValue={set('actor')} placeholder="name" />
      <span class="audit-filters-toggle">
        <Button icon="search" onClick={() => setFolded(!isFolded)}>
          {isFolded ? 'More filters' : 'Fewer filters'}
        </Button>
      </span>
      <Select
        label="Action"
        value={filters.action ?? ''}
        options={withOwn(actionOptions, filters.action)}
        onValue={set('action')}
      />
      <LateInput label="Target" value={filters.target} onValue={set('target')} placeholder="id" />
      <Select
        label="Outcome"
        value={filters.outcome ?? ''}
        options={outcomeOptions}
        onValue={set('outcome')}
      />
      {(['from', 'to'] as const).map((name) => (
        <Input
          key={name}
          label={name === 'from' ? 'From' : 'To'}
          type="datetime-local"
          value={inputTime(filters[name])}
          onValue={(value) => changeQuery({ [name]: timeFilter(value) })}
        />
      ))}
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

interface LateInputProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onValue: (value: string) => void;
  readonly placeholder: string;
}

/** Debounced input: each change sends a request. */
function LateInput({ label, value = '', onValue, placeholder }: LateInputProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return undefined;
    const timer = setTimeout(() => onValue(text.trim()), 350);
    return () => clearTimeout(timer);
  }, [text]);
  return <Input label={label} type="search" value={text} onValue={setText} placeholder={placeholder} mono />;
}

/** Options with the current value added: the URL may name an action that is in no group. */
function withOwn(options: readonly Option<string>[], value: string | undefined): readonly Option<string>[] {
  if (!value || options.some((option) => option.value === value)) return options;
  return [...options, { value, text: value }];
}
