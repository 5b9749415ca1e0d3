/**
 * Lower bound of the size of a value's JSON in bytes, close to the real size. Counts without serializing, and
 * only up to `enough`.
 */
export function minJsonBytes(value: unknown, enough = Infinity): number {
  const open: unknown[] = [value];
  let bytes = 0;
  while (open.length > 0 && bytes <= enough) {
    const part = open.pop();
    if (typeof part === 'string') bytes += part.length + 2;
    else if (typeof part !== 'object' || part === null) bytes += 1;
    else if (Array.isArray(part)) {
      bytes += part.length + 1;
      for (const item of part) open.push(item);
    } else bytes += openFields(part as Readonly<Record<string, unknown>>, open); // JSON values have no other object type
  }
  return bytes;
}

function openFields(fields: Readonly<Record<string, unknown>>, open: unknown[]): number {
  let bytes = 2;
  for (const name in fields) {
    bytes += name.length + 3;
    open.push(fields[name]);
  }
  return bytes;
}
