/** Whether a text matches one of the patterns, in which `*` stands for any run of characters. */
export function globMatcher(patterns: readonly string[]): (text: string) => boolean {
  const expressions = patterns.map(
    (pattern) => new RegExp(`^${pattern.split('*').map(quote).join('.*')}$`, 's'),
  );
  return (text) => expressions.some((expression) => expression.test(text));
}

function quote(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
