import { formatWords } from '../format/words.js';
import { changeQuery } from '../state/location.js';
import { Icon } from '../ui/icon.js';
import {
  causeOptions,
  filterNames,
  filterWords,
  outcomeOptions,
  type FilterName,
  type Filters,
} from './filters.js';
import { useNames } from './names.js';

/** The filters in force, each with a button that removes it. */
export function FilterChips({ filters }: { readonly filters: Filters }) {
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
