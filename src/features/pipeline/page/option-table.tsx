import { Icon } from '../../../console/web/ui/icon.js';
import { valueText } from '../../../console/web/ui/config-changes.js';
import type { Field } from './api.js';

/** The options of a stage: those that differ from the default, and the others collapsed. */
export function Options({ fields }: { readonly fields: readonly Field[] }) {
  const changed = fields.filter((field) => field.changed);
  const others = fields.filter((field) => !field.changed);
  return (
    <>
      {changed.length > 0 && <OptionTable label="Options that are not at their defaults" fields={changed} />}
      {others.length > 0 && (
        <details class="more">
          <summary>{summaryOf(others.length, changed.length)}</summary>
          <OptionTable label="Options at their defaults" fields={others} />
        </details>
      )}
    </>
  );
}

function summaryOf(others: number, changed: number): string {
  const more = changed > 0 ? ' more' : '';
  return others === 1 ? `1${more} option at its default` : `${others}${more} options at their defaults`;
}

interface OptionTableProps {
  readonly label: string;
  readonly fields: readonly Field[];
}

function OptionTable({ label, fields }: OptionTableProps) {
  return (
    <table class="option-table" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Option</th>
          <th scope="col">Value</th>
          <th scope="col">Default</th>
        </tr>
      </thead>
      {fields.map((field) => (
        <OptionRows key={field.path} field={field} />
      ))}
    </table>
  );
}

function OptionRows({ field }: { readonly field: Field }) {
  const { path, type, title, description, default: initial, required, changed } = field;
  return (
    <tbody class={changed ? 'option-changed' : undefined}>
      <tr>
        <th scope="row">
          <span class="mono wrap">{path}</span> <span class="dim option-type">{type}</span>
        </th>
        <td data-label="Value">
          <Value field={field} />
        </td>
        <td data-label="Default" class="dim">
          {initial === null ? (
            required ? (
              'required'
            ) : (
              'none'
            )
          ) : (
            <span class="mono wrap">{valueText(initial)}</span>
          )}
        </td>
      </tr>
      {(title ?? description) !== null && (
        <tr class="option-words">
          <td colSpan={3}>
            {title !== null && <b>{title}. </b>}
            {description}
          </td>
        </tr>
      )}
    </tbody>
  );
}

function Value({ field: { value, secret, changed } }: { readonly field: Field }) {
  if (secret && changed)
    return (
      <span class="option-secret">
        <Icon name="lock" size={14} /> set, not shown
      </span>
    );
  if (value === null) return <span class="dim">not set</span>;
  return <span class="mono wrap">{valueText(value)}</span>;
}
