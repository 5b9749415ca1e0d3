/** Part of a response that `reportDropped` needs. */
interface Answer {
  /** Empty or undefined if the header is not set. */
  get(header: string): string | undefined;
  set(header: string, value: string): void;
}

/** Adds paths of the caller's body that could not be passed on as they are to `x-gw-dropped`. */
export function reportDropped(answer: Answer, paths: readonly string[]): void {
  if (paths.length === 0) return;
  const before = answer.get(name);
  answer.set(name, droppedHeader(before ? [before, ...paths] : paths));
}

const name = 'x-gw-dropped';

/**
 * Header value for dropped fields, in ASCII and cut to `maxLength`: field names come from callers and may
 * hold anything.
 */
export function droppedHeader(fields: readonly string[], maxLength = 1000): string {
  const all = fields.join(', ').replaceAll(/[^\x20-\x7e]/g, '?');
  if (all.length <= maxLength) return all;
  const lastComma = all.lastIndexOf(', ', maxLength);
  return `${all.slice(0, lastComma > 0 ? lastComma : maxLength)}, ...`;
}
