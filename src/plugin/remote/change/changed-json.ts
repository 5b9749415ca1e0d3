import { isRecord } from '../../../kit/schema/record.js';
import { JsonCursor } from '../../inputs/json-cursor.js';

/**
 * JSON of a changed value, with the text of every part that is unchanged: numbers stay as they were written. `text`:
 * the JSON of `live`.
 */
export function changedJson(text: string, live: unknown, changed: unknown): string {
  return write(new JsonCursor(Buffer.from(text)), live, changed);
}

/** Reads the next value, that of `live`, whatever becomes of it. */
function write(cursor: JsonCursor, live: unknown, changed: unknown): string {
  if (live === changed) return cursor.value();
  if (Array.isArray(live) && Array.isArray(changed) && live.length === changed.length) {
    const items: string[] = [];
    cursor.items((at) => items.push(write(cursor, live[at], changed[at])));
    return `[${items.join()}]`;
  }
  if (isRecord(live) && isRecord(changed)) {
    const known = new Map<string, string>();
    cursor.members((name) => known.set(name, write(cursor, live[name], changed[name])));
    const members = Object.entries(changed).map(
      ([name, part]) => `${JSON.stringify(name)}:${known.get(name) ?? JSON.stringify(part)}`,
    );
    return `{${members.join()}}`;
  }
  cursor.value();
  return JSON.stringify(changed) ?? 'null'; // of a member that is gone
}
