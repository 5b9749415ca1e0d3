/**
 * Error of a stream whose reader failed at a value other than a batch of events; undefined for a batch, or a value that
 * may belong to another kind of stream.
 */
export function batchFault(value: unknown, cause?: unknown): TypeError | undefined {
  const what = wrongValue(value);
  if (what === undefined) return undefined;
  const error = new TypeError(`A transform returned ${what}.`, { cause });
  // Its frames would name the reader, and never the transform, which has returned.
  error.stack = `TypeError: ${error.message}`;
  return error;
}

function wrongValue(value: unknown): string | undefined {
  if (typeof value === 'string') return undefined;
  if (value instanceof Promise)
    return `a promise instead of a list of events; transforms are synchronous: to wait, use a generator and EventStream.from(…)`;
  if (Array.isArray(value)) {
    const isWrong = value.length > 0 && !isEvent(value[0]);
    return isWrong ? 'a list whose first item is not a ModelEvent; ModelEvent.of(…) makes one' : undefined;
  }
  if (typeof value === 'object' && value !== null && Symbol.iterator in value) return undefined;
  return `${value === null ? 'null' : `${article(typeof value)} ${typeof value}`} instead of a list of events`;
}

/** False for a value that is certainly not an event: nothing, or the parsed JSON of one. */
function isEvent(item: unknown): boolean {
  if (item === undefined || item === null) return false;
  return typeof item !== 'object' || !('type' in item) || 'json' in item;
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? 'an' : 'a';
}
