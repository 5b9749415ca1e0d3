/** Time that a header of an upstream gives. */
export interface GivenTime {
  /** Unix milliseconds. */
  readonly untilMs: number;
  /** Header with its value: `retry-after: 7`. */
  readonly header: string;
}

/** Time given by the header `name`; undefined for no time. */
export function headerTime(
  headers: Readonly<Record<string, string>>,
  name: string,
  untilMs: number | undefined,
): GivenTime | undefined {
  return untilMs === undefined ? undefined : { untilMs, header: `${name}: ${headers[name]?.trim() ?? ''}` };
}
