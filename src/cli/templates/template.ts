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

/** Fills a text in: `__NAME__`, `__MODULE__`, and what stands between « and », which is for TypeScript alone. */
export function fill(text: string, { name, module, isTypeScript }: Filling): string {
  return text
    .replaceAll(/«([^»]*)»/g, isTypeScript ? '$1' : '')
    .replaceAll('__NAME__', name)
    .replaceAll('__MODULE__', module)
    .trimStart();
}
