import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly class?: string;
  /** The control, with the ids that link it to its label and hint. */
  readonly children: (ids: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
  }) => JSX.Element;
}

export function Field({ label, hint, class: className = '', children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div class={`field ${className}`}>
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': hint ? hintId : undefined })}
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
}

export function Input({ label, hint, class: className = '', value, onValue, mono, ...rest }: InputProps) {
  // Preact's types distinguish inputs by a literal type; this one may be any of them.
  const attributes = rest as JSX.IntrinsicElements['input'];
  return (
    <Field label={label} hint={hint} class={className}>
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
  'label' | 'hint' | 'value' | 'onValue' | 'placeholder' | 'mono'
> {
  readonly rows?: number;
}

export function TextArea({ label, hint, value, onValue, placeholder, mono, rows = 2 }: TextAreaProps) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <textarea
          {...ids}
          class={mono ? 'input mono' : 'input'}
          rows={rows}
          placeholder={placeholder}
          value={value}
          spellcheck={false}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
