/** Text in an answer of any format, streamed or whole; empty where there is none, as in an error. */
export function answerText(answer: string): string {
  const lines = answer.split('\n').filter((line) => line.startsWith('data:'));
  if (lines.length === 0) return textIn(parsed(answer));
  return lines.map((line) => textIn(parsed(line.slice('data:'.length)))).join('');
}

/** JSON with indents; another text as it is. */
export function prettyAnswer(answer: string): string {
  const value = parsed(answer);
  return value === undefined ? answer : JSON.stringify(value, null, 2);
}

interface Piece {
  readonly type?: string;
  readonly delta?: unknown;
  readonly content?: unknown;
  readonly output?: unknown;
  readonly choices?: unknown;
  readonly text?: unknown;
  readonly message?: unknown;
}

/** Text of an event or of a whole answer. */
function textIn(value: unknown): string {
  const piece = Object(value) as Piece;
  if (piece.type === 'response.output_text.delta' && typeof piece.delta === 'string') return piece.delta;
  if (piece.type?.startsWith('response.')) return '';
  if (Array.isArray(piece.choices)) return piece.choices.map(textIn).join('');
  if (Array.isArray(piece.output)) return piece.output.map(textIn).join('');
  if (Array.isArray(piece.content)) return piece.content.map(textIn).join('');
  if (typeof piece.content === 'string') return piece.content;
  if (typeof piece.text === 'string') return piece.text;
  if (piece.type === 'message_start') return '';
  return isObject(piece.delta) ? textIn(piece.delta) : isObject(piece.message) ? textIn(piece.message) : '';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
