/** Source texts of a new plugin and its test. */
export interface Template {
  readonly plugin: string;
  readonly test: string;
}

export interface Filling {
  readonly name: string;
  /** The test imports it: `./redact.mjs`. */
  readonly module: string;
  readonly isTypeScript: boolean;
}

/** Fills in a text: `__NAME__`, `__FUNCTION__`, `__MODULE__`, and the parts between « and », for TypeScript alone. */
export function fill(text: string, { name, module, isTypeScript }: Filling): string {
  return text
    .replaceAll(/«([^»]*)»/g, isTypeScript ? '$1' : '')
    .replaceAll('__NAME__', name)
    .replaceAll('__FUNCTION__', functionName(name))
    .replaceAll('__MODULE__', module)
    .trimStart();
}

/** The name in camelCase; a single word, which may be reserved (`delete`), gets the suffix `Stage`. */
function functionName(name: string): string {
  if (!name.includes('-')) return `${name}Stage`;
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
