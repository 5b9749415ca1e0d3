import { useState, useEffect } from 'preact/hooks';
import { codes, formatWords } from '../format/words.js';
import { changeQuery } from '../state/location.js';
import { Button } from '../ui/button.js';
import { Select, type Option } from '../ui/input/select.js';
import { DelayedInput } from './delayed-input.js';
import { KeyField, ChoiceField } from './key-field.js';
import {
  causeOptions,
  filterWords,
  formatOptions,
  noFilters,
  outcomeOptions,
  type FilterName,
  type Filters,
  filterNames,
} from './filters.js';
import { isFiltered } from './scope.js';
import { fetchKeyNames, fetchModels, fetchSlotNames, fetchTeamNames } from '../api/names.js';
import { useResource } from '../state/use-resource.js';
import { Icon } from '../ui/icon.js';
import { useNames } from './names.js';

interface FilterBarProps {
  readonly filters: Filters;
  /** Shows the fields only on demand. */
  readonly isClosed?: boolean;
}

/** Filters of a page. Kept in the URL, so that a link shows the same to others. */
export function FilterBar({ filters, isClosed = false }: FilterBarProps) {
  const [isOpen, setOpen] = useState(!isClosed && window.matchMedia('(min-width: 821px)').matches);
  const [hasMore, setMore] = useState(rare.some((name) => filters[name] !== undefined));
  const set = (name: FilterName) => (value: string) => changeQuery({ [name]: value }, { push: true });
  return (
    <div class="filters" role="search" aria-label="Filters">
      <div class="filters-head">
        <Button icon="filter" small pressed={isOpen} onClick={() => setOpen(!isOpen)}>
          Filters
        </Button>
        <FilterChips filters={filters} />
        {isFiltered(filters) && (
          <Button small tone="quiet" onClick={() => changeQuery(noFilters, { push: true })}>
            Clear
          </Button>
        )}
      </div>
      {isOpen && <Fields filters={filters} set={set} hasMore={hasMore} onMore={() => setMore(!hasMore)} />}
    </div>
  );
}

/** Filters that are rarely needed. */
const rare: readonly FilterName[] = [
  'team',
  'pipeline',
  'label',
  'parent',
  'status',
  'code',
  'session',
  'cause',
];

interface FieldsProps {
  readonly filters: Filters;
  readonly set: (name: FilterName) => (value: string) => void;
  readonly hasMore: boolean;
  readonly onMore: () => void;
}

function Fields({ filters, set, hasMore, onMore }: FieldsProps) {
  const choices = useChoices();
  const of = (name: FilterName) => ({
    label: filterWords[name],
    value: filters[name] ?? '',
    onValue: set(name),
  });
  return (
    <div class="filter-fields">
      <DelayedInput {...of('request_id')} placeholder="x-request-id" isSearch />
      <Select {...of('failed')} options={outcomeOptions} />
      <KeyField {...of('key')} options={choices.key} />
      <ChoiceField {...of('slot')} any="Any slot" options={choices.slot} />
      <ChoiceField {...of('model')} any="Any model" options={choices.model} />
      <Select {...of('format')} options={formatOptions} />
      {hasMore && (
        <>
          <DelayedInput {...of('status')} placeholder="429" />
          <DelayedInput {...of('code')} placeholder="rate_limited" list="error-codes" />
          <datalist id="error-codes">
            {codes.map((code) => (
              <option key={code}>{code}</option>
            ))}
          </datalist>
          <DelayedInput {...of('session')} placeholder="Pseudonym of a session" />
          <ChoiceField {...of('team')} any="Any team" options={choices.team} />
          <DelayedInput {...of('pipeline')} placeholder="default" />
          <DelayedInput {...of('label')} placeholder="Label of a call" />
          <DelayedInput {...of('parent')} placeholder="Ledger id of a request" />
          <Select {...of('cause')} options={causeOptions} />
        </>
      )}
      <span class="filters-more">
        <Button small tone="quiet" icon={hasMore ? 'up' : 'down'} onClick={onMore}>
          {hasMore ? 'Fewer filters' : 'More filters'}
        </Button>
      </span>
    </div>
  );
}

interface Choices {
  readonly key: readonly Option<string>[];
  readonly team: readonly Option<string>[];
  readonly slot: readonly Option<string>[];
  readonly model: readonly Option<string>[];
}

/** Keys, teams, slots and models to choose from, loaded after the page's content. */
function useChoices(): Choices {
  const isIdle = useIdle();
  const { data } = useResource(`choices ${isIdle}`, async (signal) => {
    if (!isIdle) return undefined;
    const [keys, teams, slots, models] = await Promise.all([
      fetchKeyNames(signal),
      fetchTeamNames(signal),
      fetchSlotNames(signal),
      fetchModels(signal),
    ]);
    return { keys, teams, slots, models };
  });
  const { keys = [], teams = [], slots = [], models = [] } = data ?? {};
  return {
    key: keys.map(({ id, name, last4 }) => ({ value: id, text: `${name} …${last4}` })),
    team: teams.map(({ id, name }) => ({ value: id, text: name })),
    slot: slots.map(({ id }) => ({ value: id, text: id })),
    model: models.map(({ id }) => ({ value: id, text: id })),
  };
}

const idleMs = 400;

/** True from shortly after the first rendering on. */
function useIdle(): boolean {
  const [isIdle, setIdle] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIdle(true), idleMs);
    return () => clearTimeout(timer);
  }, []);
  return isIdle;
}

/** The filters in force, each with a button that removes it. */
function FilterChips({ filters }: { readonly filters: Filters }) {
  const names = {
    key: useNames('keys', filters.key !== undefined),
    team: useNames('teams', filters.team !== undefined),
  };
  const given = filterNames.filter((name) => filters[name] !== undefined);
  if (given.length === 0) return null;
  return (
    <ul class="filter-chips" aria-label="Filters in force">
      {given.map((name) => {
        const value = filters[name] ?? '';
        const text = name === 'key' || name === 'team' ? names[name](value) : valueInWords(name, value);
        return (
          <li key={name} class="filter-chip">
            <span class="dim">{filterWords[name]}</span>
            <span class={name in names ? 'name name-found' : 'name'} title={text}>
              {text}
            </span>
            <button
              type="button"
              aria-label={`Remove the filter ${filterWords[name]}: ${text}`}
              onClick={() => changeQuery({ [name]: null }, { push: true })}
            >
              <Icon name="close" size={13} />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function valueInWords(name: FilterName, value: string): string {
  if (name === 'failed') return outcomeOptions.find((option) => option.value === value)?.text ?? value;
  if (name === 'cause') return causeOptions.find((option) => option.value === value)?.text ?? value;
  return name === 'format' ? (formatWords[value] ?? value) : value;
}
