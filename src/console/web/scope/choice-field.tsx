import { Select, type Option } from '../ui/input/select.js';

interface ChoiceFieldProps {
  readonly label: string;
  readonly value: string;
  /** Text of no choice. */
  readonly any: string;
  readonly options: readonly Option<string>[];
  readonly onValue: (value: string) => void;
}

/** A choice that may be none; a value from the URL is offered even where it no longer exists. */
export function ChoiceField({ any, options, value, ...rest }: ChoiceFieldProps) {
  const isKnown = value === '' || options.some((option) => option.value === value);
  const shown = [{ value: '', text: any }, ...options, ...(isKnown ? [] : [{ value, text: value }])];
  return <Select {...rest} value={value} options={shown} />;
}
