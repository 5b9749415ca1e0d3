import { useState } from 'preact/hooks';
import { Input, TextArea } from '../../../console/web/ui/input/field.js';
import { Select } from '../../../console/web/ui/input/select.js';
import type { SlotField } from './api.js';
import { pathOf, type PartProps } from './slot-draft.js';

interface OptionInputsProps extends PartProps {
  readonly fields: readonly SlotField[];
  /** True if stored secrets are kept while their inputs are empty. */
  readonly keepsSecrets: boolean;
  /** Label of the optional ones, which are collapsed. */
  readonly others: string;
}

/** Inputs of options: those that are required or set, and the others collapsed. */
export function OptionInputs({ fields, others, ...props }: OptionInputsProps) {
  const { draft, errorAt } = props;
  const isFirst = ({ required, secret }: SlotField) => required || secret;
  const first = fields.filter(isFirst);
  const folded = fields.filter((field) => !isFirst(field));
  const isOpen = folded.some((field) => errorAt(pathOf(field)) !== undefined);
  // As it was at first: it must not fold away an input that is being emptied.
  const [isSet] = useState(() => folded.some((field) => (draft.options[pathOf(field)] ?? '') !== ''));
  return (
    <>
      {first.length > 0 && <OptionGrid {...props} fields={first} />}
      {folded.length > 0 && folded.length <= maxUnfolded && <OptionGrid {...props} fields={folded} />}
      {folded.length > maxUnfolded && (
        <details class="more" open={isOpen || isSet}>
          <summary>
            {others} ({folded.length})
          </summary>
          <OptionGrid {...props} fields={folded} />
        </details>
      )}
    </>
  );
}

/** Options that are never collapsed. */
const maxUnfolded = 3;

function OptionGrid({ fields, ...props }: Omit<OptionInputsProps, 'others'>) {
  return (
    <div class="columns">
      {fields.map((field) => (
        <OptionInput key={pathOf(field)} field={field} {...props} />
      ))}
    </div>
  );
}

interface OptionInputProps extends Omit<OptionInputsProps, 'fields' | 'others'> {
  readonly field: SlotField;
}

function OptionInput({ field, draft, change, errorAt, keepsSecrets }: OptionInputProps) {
  const path = pathOf(field);
  const isKept = field.secret && keepsSecrets;
  const shared = {
    label: labelOf(field),
    hint: field.description ?? undefined,
    error: errorAt(path),
    value: draft.options[path] ?? '',
    onValue: (text: string) => change({ options: { ...draft.options, [path]: text } }),
    required: field.required && !isKept,
  };
  const { control } = field;
  if (control === 'choice' || control === 'boolean')
    return <Select {...shared} options={choicesOf(field, shared.value)} />;
  const placeholder = isKept ? 'unchanged' : exampleOf(field);
  if (control === 'texts' || control === 'map' || (control === 'json' && !field.secret))
    return <TextArea {...shared} placeholder={placeholder} mono />;
  if (field.secret)
    return <Input {...shared} type="password" autocomplete="new-password" placeholder={placeholder} mono />;
  const number = control === 'number' && ({ type: 'number', step: 'any' } as const);
  return <Input {...shared} {...number} placeholder={placeholder} mono />;
}

/** Words of a title or of the keys: `Token URL`, `Max tokens`. */
function labelOf({ path, title }: SlotField): string {
  const words = path.slice(1).length > 0 ? path.slice(1) : path;
  const keys = words.map((key) => key.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ').toLowerCase());
  const name = title ?? keys.join(': ');
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function choicesOf(field: SlotField, value: string) {
  const values = field.control === 'boolean' ? [true, false] : field.choices;
  const options = values.map((each) => ({ value: JSON.stringify(each), text: wordOf(each) }));
  const unset = field.default === null ? 'Not set' : `Default: ${wordOf(field.default)}`;
  return field.required && value !== '' ? options : [{ value: '', text: unset }, ...options];
}

function wordOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Default or form of the text, for an empty input. */
function exampleOf({ control, default: initial }: SlotField): string | undefined {
  if (control === 'texts' || control === 'map') return 'name: value';
  if (initial === null) return undefined;
  return typeof initial === 'string' ? initial : JSON.stringify(initial);
}
