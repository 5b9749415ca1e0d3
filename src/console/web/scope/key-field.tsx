import { useId, useState } from 'preact/hooks';
import { Input } from '../ui/input/field.js';
import { type Option, Select } from '../ui/input/select.js';

/** Max options of a list; above it a search replaces the list. */
const maxListed = 200;
const maxFound = 20;

interface KeyFieldProps {
  readonly label: string;
  /** Id of a key. */
  readonly value: string;
  readonly options: readonly Option<string>[];
  readonly onValue: (value: string) => void;
}

/** Choice of a key: a list, or with very many keys a field that searches them. */
export function KeyField(props: KeyFieldProps) {
  if (props.options.length > maxListed) return <KeySearch {...props} />;
  return <ChoiceField {...props} any="Any key" />;
}

function KeySearch({ label, value, options, onValue }: KeyFieldProps) {
  const listId = useId();
  const [typed, setTyped] = useState<string>();
  const chosen = options.find((option) => option.value === value)?.text ?? value;
  const words = (typed ?? '').toLowerCase();
  const found = words ? options.filter(({ text }) => text.toLowerCase().includes(words)) : options;
  const change = (text: string) => {
    const key = options.find((option) => option.text === text);
    setTyped(key || text === '' ? undefined : text);
    if (key || text === '') onValue(key?.value ?? '');
  };
  return (
    <>
      <Input
        label={label}
        type="search"
        value={typed ?? chosen}
        onValue={change}
        placeholder="Name of a key"
        list={listId}
      />
      <datalist id={listId}>
        {found.slice(0, maxFound).map((option) => (
          <option key={option.value}>{option.text}</option>
        ))}
      </datalist>
    </>
  );
}

interface ChoiceFieldProps {
  readonly label: string;
  readonly value: string;
  /** Text of the empty choice. */
  readonly any: string;
  readonly options: readonly Option<string>[];
  readonly onValue: (value: string) => void;
}

/** An optional choice; a value from the URL is offered even if it no longer exists. */
export function ChoiceField({ any, options, value, ...rest }: ChoiceFieldProps) {
  const isKnown = value === '' || options.some((option) => option.value === value);
  const shown = [{ value: '', text: any }, ...options, ...(isKnown ? [] : [{ value, text: value }])];
  return <Select {...rest} value={value} options={shown} />;
}
