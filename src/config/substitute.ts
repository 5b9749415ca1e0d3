export type Environment = Readonly<Record<string, string | undefined>>;

/** `${NAME}`, `${NAME:-default}` (also where NAME is set to nothing, as in a shell); `$${` stands for a plain `${`. */
const reference = /\$(\$\{)|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** Puts values into the text of a scalar. */
export type Fill = (text: string) => { text: string; unset: readonly string[] };

/** Puts the environment into a text; `unset` are the names that have neither a value nor a default. */
export function substitute(text: string, env: Environment): { text: string; unset: readonly string[] } {
  const unset: string[] = [];
  const replaced = text.replace(
    reference,
    (whole: string, escaped: string | undefined, name: string, fallback: string | undefined) => {
      if (escaped !== undefined) return escaped;
      const value = fallback === undefined ? env[name] : env[name] || fallback;
      if (value === undefined) unset.push(name);
      return value ?? whole;
    },
  );
  return { text: replaced, unset };
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
