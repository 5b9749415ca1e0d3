/** Name of the signed-in person; the password and the master key have none. */
export function nameOf({ kind, name }: { readonly kind: string; readonly name: string }): string {
  if (kind === 'password') return 'Password';
  return kind === 'master' ? 'Master key' : name;
}

const browsers: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)[.\d]* (?:Mobile\/\w+ )?Safari/],
  ['curl', /^curl\/(\d+)/],
];

const systems: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Windows', /Windows/],
  ['Android', /Android/],
  ['iOS', /iPhone|iPad/],
  ['macOS', /Mac OS X/],
  ['Linux', /Linux/],
];

/** A user agent in short, `Firefox 140 on Linux`; an unknown one unchanged. */
export function browserOf(userAgent: string): string {
  const [name, version] = firstMatch(browsers, userAgent);
  if (name === undefined) return userAgent;
  const [system] = firstMatch(systems, userAgent);
  return `${name} ${version}${system === undefined ? '' : ` on ${system}`}`;
}

function firstMatch(list: typeof browsers, text: string): readonly [name?: string, version?: string] {
  for (const [name, pattern] of list) {
    const match = pattern.exec(text);
    if (match) return [name, match[1] ?? ''];
  }
  return [];
}
