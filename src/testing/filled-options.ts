import { compileCheck } from '../plugin/format/index.js';

/** Schema of its options. */
interface Kind {
  readonly options: Readonly<Record<string, unknown>>;
}

/** Copy of options with their defaults. Throws if the schema refuses them. */
export function filledOptions({ options: schema }: Kind, options: object): object {
  const copy = structuredClone(options);
  const [error] = compileCheck(schema, { useDefaults: true })(copy);
  if (error) throw new Error(`The options are refused: ${error.path.join('.')} ${error.message}`);
  return copy;
}
