export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Variables: `${NAME}`, `${NAME:-default}` (the default also replaces an empty value, as in a shell),
 * `${file:PATH}`; `$${` is a plain `${`. An unclosed variable matches to the end of the text, so that the
 * search stays linear.
 */
const reference = /\$(\$\{)|\$\{(?:(?:file:(?!-)([^}]*)|([A-Za-z_]\w*)(?::-([^}]*))?)(\}|$))?/g;

/** A text after substitution, with its faults. */
export interface Filled {
  readonly text: string;
  /** Names of variables without a value and without a default. */
  readonly unset: readonly string[];
  /** Error messages of files that could not be read. */
  readonly unread: readonly string[];
  /** True if a `${` begins no valid variable. */
  readonly isMalformed: boolean;
}

/** Substitutes variables in the text of a scalar. */
export type Fill = (text: string) => Filled;

/** Reads the text of a file. Throws an Error whose message describes the fault. */
export type ReadSecret = (file: string) => string;

/** Substitutes environment variables and files in a text. */
export function substitute(text: string, env: Environment, readSecret: ReadSecret): Filled {
  const unset: string[] = [];
  const unread: string[] = [];
  let isMalformed = false;
  const replaced = text.replace(
    reference,
    (whole: string, escaped?: string, file?: string, name?: string, fallback?: string, end?: string) => {
      if (escaped !== undefined) return escaped;
      isMalformed ||= end !== '}' || file === '';
      if (file && end === '}') return fromFile(file, readSecret, unread);
      if (name === undefined || end !== '}') return whole;
      const value = fallback === undefined ? env[name] : env[name] || fallback;
      if (value === undefined) unset.push(name);
      return value ?? whole;
    },
  );
  return { text: replaced, unset, unread, isMalformed };
}

function fromFile(file: string, readSecret: ReadSecret, unread: string[]): string {
  try {
    return readSecret(file);
  } catch (error) {
    unread.push(error instanceof Error ? error.message : String(error));
    return '';
  }
}

/**
 * The value of an unquoted YAML scalar: number, boolean, null or text. A number that would be written
 * differently (a key of forty digits) stays a text.
 */
export function typed(text: string): string | number | boolean | null {
  if (text.trim() === '') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  return String(number) === text && Number.isFinite(number) ? number : text;
}
