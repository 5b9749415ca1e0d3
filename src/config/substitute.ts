export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `${NAME}`, `${NAME:-default}` (also where NAME is set to nothing, as in a shell), `${file:PATH}`; `$${` stands for a plain
 * `${`. One that is not closed is taken to the end of the text, so that the text is searched once.
 */
const reference = /\$(\$\{)|\$\{(?:(?:file:(?!-)([^}]*)|([A-Za-z_]\w*)(?::-([^}]*))?)(\}|$))?/g;

/** A text with its variables put in, and what is wrong with them. */
export interface Filled {
  readonly text: string;
  /** The names that have neither a value nor a default. */
  readonly unset: readonly string[];
  /** The faults of the files that it names. */
  readonly unread: readonly string[];
  /** There is a `${` that begins no variable. */
  readonly isMalformed: boolean;
}

/** Puts values into the text of a scalar. */
export type Fill = (text: string) => Filled;

/** Gives the text of a file. Throws an Error whose message says what is wrong with it. */
export type ReadSecret = (file: string) => string;

/** Puts the environment and files into a text. */
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
 * What an unquoted YAML scalar of this text means: a number, true, false or nothing, else the text. A number that would
 * read differently when written again (a key of forty digits) stays a text.
 */
export function typed(text: string): string | number | boolean | null {
  if (text.trim() === '') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  return String(number) === text && Number.isFinite(number) ? number : text;
}
