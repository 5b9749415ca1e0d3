/** Max characters of a text in a report. */
const maxText = 400;

/** Max characters of the parts of a text that is shown in part. */
const maxPart = 160;

/** Max fields, and items, of an object or list in a report; max depth of it. */
const maxItems = 12;
const maxDepth = 4;

/** Small copy of a JSON value: long texts in part, base64 and deep structures only by their size. */
export function shown(value: unknown, depth = maxDepth): unknown {
  if (typeof value === 'string') return shownText(value);
  if (typeof value !== 'object' || value === null) return shownScalar(value);
  if (Array.isArray(value)) {
    if (depth === 0) return `‹${value.length} items›`;
    const items = value.slice(0, maxItems).map((item: unknown) => shown(item, depth - 1));
    return value.length > maxItems ? [...items, `‹${value.length - maxItems} more›`] : items;
  }
  const entries = Object.entries(value);
  if (depth === 0) return `‹object of ${entries.length} fields›`;
  const fields = entries.slice(0, maxItems).map(([key, inner]) => [key, shown(inner, depth - 1)]);
  const more = entries.length - maxItems;
  return Object.fromEntries(more > 0 ? [...fields, ['…', `‹${more} more›`]] : fields);
}

function shownScalar(value: unknown): unknown {
  return value === null || ['number', 'boolean', 'undefined'].includes(typeof value)
    ? value
    : `‹${typeof value}›`;
}

/** Text of a report: complete if it is short; never base64. */
export function shownText(text: string): string {
  if (isBase64(text)) return `‹base64, ${text.length} characters›`;
  if (text.length <= maxText) return text;
  return `${text.slice(0, maxPart)} ‹… ${text.length} characters …› ${text.slice(-maxPart / 4)}`;
}

/** Replacement by `shownText` for the middle of a long text. */
export const cutMark = / ‹… \d+ characters …› /;

/** True for a long text that looks like encoded bytes, also as a data URL. */
export function isBase64(text: string): boolean {
  if (text.length < 200) return false;
  if (/^data:[^,]{0,100};base64,/.test(text)) return true;
  return /^[\w+/=-]+$/.test(text.slice(0, 1000));
}

/** Text that shows only the length of the hidden one. */
export function concealed(value: unknown): string {
  return typeof value === 'string' ? `‹hidden, ${value.length} characters›` : '‹hidden›';
}
