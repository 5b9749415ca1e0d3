import type { EventChanges, Interception, RequestChange, RequestChanges } from '../explanation.js';
import { printable, type Paint } from '../../../kit/terminal.js';

/** Lines of a request's changes, a line each. */
export function changeLines(
  { changes, more }: RequestChanges,
  whole: string,
  paint: Paint,
): readonly string[] {
  const lines = changes.map((change) => `      ${changeLine(change, whole, paint)}`);
  return more === undefined ? lines : [...lines, `      … and ${more} more changes`];
}

function changeLine(change: RequestChange, whole: string, paint: Paint): string {
  const path = printable(change.path || whole);
  const [before, after] = [change.before, change.after].map((value) => printable(valueText(value ?? null)));
  if (!('before' in change)) return paint('green', `+ ${path}: ${after}`);
  if (!('after' in change)) return paint('red', `- ${path}: ${before}`);
  return `${paint('yellow', `~ ${path}`)}: ${before} → ${after}`;
}

/** Lines of the changes in the answer's events. */
export function eventLines(events: EventChanges | undefined): readonly string[] {
  if (!events) return [];
  const { types, usage, textChanged, characters } = events;
  const notes = [...Object.entries(types), ...Object.entries(usage)].map(
    ([name, [before, after]]) => `${name} ${before ?? 'none'} → ${after ?? 'none'}`,
  );
  const text = textChanged ? [`text ${characters.join(' → ')} characters`] : [];
  return [printable(`      answer: ${[...notes, ...text].join(', ')}`)];
}

/** Lines of a stage's work around the call of the model. */
export function callLines({ calls, events, error }: Interception, paint: Paint): readonly string[] {
  const lines = calls.flatMap(({ request, error }, at) => {
    const isSilent = calls.length === 1 && !error && request.changes.length === 0;
    if (isSilent) return [];
    const end = error ? paint('red', printable(`: ${error.code}: ${error.message}`)) : '';
    return [
      `      call ${at + 1}${end}`,
      ...changeLines(request, 'request', paint).map((line) => `  ${line}`),
    ];
  });
  return [
    ...(calls.length === 0 && !error ? ['      answered without calling the model'] : lines),
    ...eventLines(events),
    ...(error ? [`      ${paint('red', printable(`${error.code}: ${error.message}`))}`] : []),
  ];
}

/** Max characters of a value in a line. */
const maxLength = 300;

/** A JSON value in one line. */
export function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > maxLength ? `${text.slice(0, maxLength)}… (${text.length} characters)` : text;
}
