import { isRecord } from '../../../kit/schema/record.js';
import { GatewayError, isGatewayError } from '../../../plugin/index.js';

/** Error as JSON. */
interface WireError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** Number of an error of the other side, which has come back. */
  readonly of?: number;
  /** Number of an error of this side. */
  readonly id?: number;
  readonly answer?: WireAnswer;
}

/** Answer to the caller by an error. */
interface WireAnswer {
  readonly code: string;
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly details?: unknown;
  readonly param?: string;
  readonly callersMessage?: string;
}

/** Errors of a connection by their numbers, so that one which comes back is the same object. */
export class ErrorNotes {
  readonly #sent = new Map<number, unknown>();
  readonly #received = new WeakMap<object, number>();
  #lastId = 0;

  /** Number of an error that is sent; the other side may send it back for some time. */
  add(error: unknown): number {
    const id = ++this.#lastId;
    this.#sent.set(id, error);
    if (this.#sent.size > maxNotes) this.#sent.delete(id - maxNotes);
    return id;
  }

  sent(id: unknown): unknown {
    return this.#sent.get(Number(id));
  }

  note(error: object, id: unknown): void {
    if (typeof id === 'number') this.#received.set(error, id);
  }

  received(error: unknown): number | undefined {
    return typeof error === 'object' && error !== null ? this.#received.get(error) : undefined;
  }
}

const maxNotes = 1000;

export function toWireError(error: unknown, notes: ErrorNotes): WireError {
  const of = notes.received(error);
  if (of !== undefined) return { name: 'Error', message: '', of };
  const id = notes.add(error);
  if (!(error instanceof Error)) return { name: 'Error', message: String(error).slice(0, maxText), id };
  const { name, message, stack } = error;
  const text = {
    name: cut(name),
    message: cut(message),
    ...(stack !== undefined && { stack: cut(stack) }),
    id,
  };
  return isGatewayError(error) ? { ...text, answer: answerOf(error) } : { ...text, ...exposed(error) };
}

/** Error of the other side, or that of this side which it has sent back. */
export function fromWireError(value: unknown, notes: ErrorNotes): unknown {
  const given = isRecord(value) ? value : {};
  const own = given['of'] === undefined ? undefined : notes.sent(given['of']);
  if (own !== undefined) return own;
  const message = textOf(given['message'], 'It failed without a message.');
  const error =
    toAnswer(message, given['answer']) ??
    Object.assign(new Error(message), { name: textOf(given['name'], 'Error') });
  error.stack = textOf(given['stack'], `${error.name}: ${message}`);
  notes.note(error, given['id']);
  return error;
}

/** Max length of a text of an error. */
const maxText = 8000;

function cut(text: unknown): string {
  return String(text).slice(0, maxText);
}

function textOf(value: unknown, instead: string): string {
  return typeof value === 'string' && value !== '' ? value.slice(0, maxText) : instead;
}

function answerOf({ code, status, type, headers, details, param, callersMessage }: GatewayError): WireAnswer {
  return {
    code,
    status,
    type,
    headers,
    ...(details !== undefined && { details }),
    ...(param !== undefined && { param }),
    ...(callersMessage !== undefined && { callersMessage }),
  };
}

/** Answer of an error as http-errors makes them, which callers may see. */
function exposed(error: Error): { readonly answer?: WireAnswer } {
  const { status, expose } = error as Error & { readonly status?: unknown; readonly expose?: unknown }; // perhaps undefined
  if (expose !== true || typeof status !== 'number' || status < 400 || status > 499) return {};
  return { answer: { code: 'invalid_request', status, type: 'invalid_request_error', headers: {} } };
}

/** Undefined for an error without an answer of its own. */
function toAnswer(message: string, value: unknown): GatewayError | undefined {
  if (!isRecord(value)) return undefined;
  const { code, status, type, headers, details, param, callersMessage } = value;
  const isAnswer =
    isName(code) &&
    isName(type) &&
    Number.isInteger(status) &&
    Number(status) >= 400 &&
    Number(status) <= 599;
  if (!isAnswer || !isTexts(headers)) return undefined;
  return new GatewayError(code, message, {
    status: Number(status),
    type,
    headers,
    ...(details !== undefined && { details }),
    ...(typeof param === 'string' && { param }),
    ...(typeof callersMessage === 'string' && { callersMessage }),
  });
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[\w.-]{1,100}$/.test(value);
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  if (!isRecord(value)) return false;
  const entries = Object.entries(value);
  return entries.length <= 50 && entries.every(([name, text]) => isHeader(name, text));
}

function isHeader(name: string, text: unknown): boolean {
  return (
    /^[\w-]{1,100}$/.test(name) && typeof text === 'string' && /^[\t\x20-\x7e\x80-\xff]{0,8000}$/.test(text)
  );
}
