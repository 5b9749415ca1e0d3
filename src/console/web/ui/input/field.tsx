import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** Problem of the value, from the API. */
  readonly error?: string | undefined;
  readonly class?: string;
  /** The control, with the attributes that link it to its label, hint and error. */
  readonly children: (links: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': true | undefined;
  }) => JSX.Element;
}

export function Field({ label, hint, error, class: className = '', children }: FieldProps) {
  const id = useId();
  const [hintId, errorId] = [`${id}-hint`, `${id}-error`];
  const described = [error && errorId, hint && hintId].filter(Boolean).join(' ');
  return (
    <div class={`field ${className}`}>
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {error && (
        <p class="field-error" id={errorId}>
          {error}
        </p>
      )}
      {hint && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

type InputType = 'text' | 'password' | 'number' | 'url' | 'datetime-local' | 'search';

interface InputProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly class?: string;
  readonly type?: InputType;
  readonly placeholder?: string | undefined;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly min?: number;
  readonly step?: string;
  readonly mono?: boolean;
  readonly autocomplete?: string;
  readonly list?: string;
  /** Focused by the shortcut `/`. */
  readonly 'data-search'?: true;
}

export function Input(props: InputProps) {
  const { label, hint, error, class: className = '', value, onValue, mono, ...rest } = props;
  // Preact's types distinguish inputs by a literal type; this one may be any of them.
  const attributes = rest as JSX.IntrinsicElements['input'];
  return (
    <Field label={label} hint={hint} error={error} class={className}>
      {(ids) => (
        <input
          {...attributes}
          {...ids}
          class={mono ? 'input mono' : 'input'}
          value={value}
          spellcheck={false}
          autocomplete={rest.autocomplete ?? 'off'}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface TextAreaProps extends Pick<
  InputProps,
  'label' | 'hint' | 'error' | 'value' | 'onValue' | 'placeholder' | 'required' | 'mono'
> {
  readonly rows?: number;
}

export function TextArea(props: TextAreaProps) {
  const { label, hint, error, value, onValue, placeholder, required, mono, rows = 2 } = props;
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <textarea
          {...ids}
          class={mono ? 'input mono' : 'input'}
          rows={rows}
          placeholder={placeholder}
          required={required}
          value={value}
          spellcheck={false}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
