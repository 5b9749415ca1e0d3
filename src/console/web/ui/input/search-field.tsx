import { useEffect, useState } from 'preact/hooks';
import { changeQuery, usePlace } from '../../state/location.js';
import { Icon } from '../icon.js';

interface SearchFieldProps {
  /** Label for screen readers, and the placeholder. */
  readonly label: string;
  /** Query parameter; default `q`. */
  readonly parameter?: string;
}

/** Search field whose text is kept in the URL; `/` focuses it. See `useSearch`. */
export function SearchField({ label, parameter = 'q' }: SearchFieldProps) {
  const value = usePlace().query.get(parameter) ?? '';
  const [text, setText] = useState(value);
  useEffect(() => setText((last) => (last.trim() === value ? last : value)), [value]);
  const change = (next: string) => {
    setText(next);
    changeQuery({ [parameter]: next.trim() });
  };
  return (
    <span class="search-field">
      <Icon name="search" size={16} />
      <input
        type="search"
        class="input"
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        data-search
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
    </span>
  );
}
