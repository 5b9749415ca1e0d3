import { useState } from 'preact/hooks';
import { ChoiceField } from '../../../console/web/scope/key-field.js';
import { DelayedInput } from '../../../console/web/scope/delayed-input.js';
import { changeQuery } from '../../../console/web/state/location.js';
import { Button } from '../../../console/web/ui/button.js';
import { Input } from '../../../console/web/ui/input/field.js';
import { Select } from '../../../console/web/ui/input/select.js';
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
      <DelayedInput label="Who" value={filters.actor ?? ''} onValue={set('actor')} placeholder="name" />
      <span class="audit-filters-toggle">
        <Button icon="search" onClick={() => setFolded(!isFolded)}>
          {isFolded ? 'More filters' : 'Fewer filters'}
        </Button>
      </span>
      <ChoiceField
        label="Action"
        value={filters.action ?? ''}
        any="Any action"
        options={actionOptions}
        onValue={set('action')}
      />
      <DelayedInput label="Target" value={filters.target ?? ''} onValue={set('target')} placeholder="id" />
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
          class="audit-filter-time"
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
