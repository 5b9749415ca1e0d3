/** A count of tokens as an integer, since some servers send averages; undefined for anything else. */
export function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined;
}

/**
 * Uncached input of a prompt that includes cache reads and writes; a part larger than the prompt was counted
 * separately.
 */
export function uncached(prompt: number, ...parts: readonly (number | undefined)[]): number {
  return parts.reduce<number>((rest, part = 0) => (part > rest ? rest : rest - part), prompt);
}

/** Estimated tokens of a text of this length, at least one. */
export function estimate(length: number): number {
  return Math.max(1, Math.ceil(length / 4));
}
