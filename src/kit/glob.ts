/**
 * Compiles glob patterns, in which `*` is any run of characters, into a test that is true if one of them
 * matches. Takes time linear in the text, which callers choose, for any number of stars.
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

/**
 * Position after these parts, each found at its first place after the one before; undefined if one is
 * missing.
 */
function skip(text: string, parts: readonly string[], from: number): number | undefined {
  let at = from;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return undefined;
    at = found + part.length;
  }
  return at;
}
