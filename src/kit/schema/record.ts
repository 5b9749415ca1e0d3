export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Removes a field and returns its value. */
export function takeFrom(record: Record<string, unknown>, name: string): unknown {
  const value = record[name];
  delete record[name];
  return value;
}
