/**
 * Whether a text matches one of the patterns, in which `*` stands for any run of characters. Takes time in proportion to
 * the text, which callers make up, however many stars there are.
 */
export function globMatcher(patterns: readonly string[]): (text: string) => boolean {
  const matchers = patterns.map(matcherOf);
  return (text) => matchers.some((matches) => matches(text));
}

function matcherOf(pattern: string): (text: string) => boolean {
  const [start = '', ...rest] = pattern.split('*');
  const end = rest.pop();
  if (end === undefined) return (text) => text === start;
  return (text) => {
    if (!text.startsWith(start)) return false;
    const at = skip(text, rest, start.length);
    return at !== undefined && text.length - end.length >= at && text.endsWith(end);
  };
}

/** Where the text goes on behind these parts, each at the first place where it stands behind the one before. */
function skip(text: string, parts: readonly string[], from: number): number | undefined {
  let at = from;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return undefined;
    at = found + part.length;
  }
  return at;
}
