/** A value of the config in a line; a list of texts without its brackets. */
export function valueText(value: unknown): string {
  if (value === '') return '(empty)';
  if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string'))
    return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
