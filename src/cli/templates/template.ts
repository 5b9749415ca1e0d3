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

/** Fills in a text: `__NAME__`, `__MODULE__`, and the parts between « and », which are for TypeScript alone. */
export function fill(text: string, { name, module, isTypeScript }: Filling): string {
  return text
    .replaceAll(/«([^»]*)»/g, isTypeScript ? '$1' : '')
    .replaceAll('__NAME__', name)
    .replaceAll('__MODULE__', module)
    .trimStart();
}
