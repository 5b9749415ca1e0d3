import { isRecord } from '../../kit/schema/record.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Fields of the error in a parsed body or event, with its text as `message`, from the shapes in use: `{error:
 * {message}}`, `{error: "text"}`, `{errors: […]}`, `{detail}` and `{message}` with a text, an object or a list,
 * `{object: "error"}`, and one of them in a list. Empty if it has no text.
 */
export function errorFields(body: unknown): Fields {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  if (!isRecord(outer)) return {};
  const { error, errors } = outer;
  const inner: unknown = error ?? (Array.isArray(errors) ? errors[0] : errors);
  const own = isRecord(inner) ? inner : flatFields(outer);
  const words = wordsIn(isRecord(inner) ? inner : outer) || wordsIn(outer);
  return words === '' ? own : { ...own, message: words };
}

/** Fields that identify an error beside a bare message; `type` and `details` have another meaning there. */
function flatFields({ code, param, type }: Fields): Fields {
  return { code, param, ...(typeof type === 'string' && type.endsWith('_error') && { type }) };
}

/** Words of an error: of a list the first ten, each with the place of FastAPI's `loc`. */
function wordsIn(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (depth > maxDepth) return '';
  if (Array.isArray(value))
    return value
      .slice(0, 10)
      .map((each) => placedWords(each, depth + 1))
      .filter((words) => words !== '')
      .join('; ');
  if (!isRecord(value)) return '';
  for (const name of names) {
    const words = wordsIn(value[name], depth + 1);
    if (words.trim() !== '') return words;
  }
  return '';
}

function placedWords(value: unknown, depth: number): string {
  const words = wordsIn(value, depth);
  const loc = isRecord(value) ? value['loc'] : undefined;
  return Array.isArray(loc) && loc.length > 0 && words !== ''
    ? `${loc.slice(0, 20).join('.')}: ${words}`
    : words;
}

const names = [
  'message',
  'Message',
  'msg',
  'detail',
  'error',
  'errors',
  'error_description',
  'title',
] as const;

const maxDepth = 5;

/** True for a parsed answer that is an error, with any status. */
export function isErrorBody(answer: Fields): boolean {
  const { error, errors, object, type } = answer;
  if (object === 'error' || type === 'error') return true;
  return (
    (error !== undefined && error !== null && error !== '') || (Array.isArray(errors) && errors.length > 0)
  );
}
