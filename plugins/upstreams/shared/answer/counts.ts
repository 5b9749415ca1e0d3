/** A count of tokens as an integer, since some servers send averages; undefined for anything else. */
export function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined;
}

/**
 * Input beside what was read from the cache and written to it, of a prompt that includes them; a part that is
 * larger than the prompt was counted beside it.
 */
export function uncached(prompt: number, ...parts: readonly (number | undefined)[]): number {
  return parts.reduce<number>((rest, part = 0) => (part > rest ? rest : rest - part), prompt);
}

/** Tokens of a text of this length, where nobody counts them; no request and no answer is free. */
export function estimate(length: number): number {
  return Math.max(1, Math.ceil(length / 4));
}
