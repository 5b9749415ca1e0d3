import { Field } from './field.js';

export interface Option<Value extends string> {
  readonly value: Value;
  readonly text: string;
}

interface SelectProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly Option<Value>[];
  readonly onValue: (value: Value) => void;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly disabled?: boolean;
  readonly required?: boolean;
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, value, options, onValue, hint, error, disabled, required } = props;
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <select
          {...ids}
          class="input"
          value={value}
          disabled={disabled}
          required={required}
          onChange={(event) => onValue(event.currentTarget.value as Value)} // only its options can be values
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
