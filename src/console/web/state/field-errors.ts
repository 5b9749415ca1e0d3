import { ConsoleError } from '../api/console-error.js';

interface FieldErrors {
  /** Problem of a field, by its path; that of a part of its value, too. */
  readonly at: (path: string) => string | undefined;
  /** The error for below the form: the problems that have no field, or the number of those that have one. */
  readonly rest: ConsoleError | undefined;
}

/** Splits an error of the API, a problem a line with its path first, over the fields of a form. */
export function fieldErrors(error: ConsoleError | undefined, paths: readonly string[]): FieldErrors {
  const lines = (error?.message ?? '').split('\n').map((line) => {
    const [, path = '', message = line] = /^([^\s:]+(?: [^\s:]+)*): (.+)$/.exec(line) ?? [];
    return { line, message, field: paths.find((each) => isWithin(path, each)) };
  });
  const placed = lines.filter(({ field }) => field !== undefined);
  const others = lines.filter(({ field }) => field === undefined);
  const texts = new Map(placed.map(({ field, message }) => [field, message]));
  return { at: (path) => texts.get(path), rest: error && restOf(error, placed.length, others) };
}

function restOf(
  { status, code, retryAfterSeconds }: ConsoleError,
  placed: number,
  others: readonly { readonly line: string }[],
): ConsoleError {
  const marked = placed === 1 ? 'A field above says why.' : `${placed} fields above say why.`;
  const message = [...(placed > 0 ? [marked] : []), ...others.map(({ line }) => line)].join('\n');
  return new ConsoleError(status, code, message, retryAfterSeconds);
}

function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}
