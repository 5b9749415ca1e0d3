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
