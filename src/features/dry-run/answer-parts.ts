import type { Received } from '../../engine/http/inner-caller.js';
import { jsonOrText } from '../../engine/http/inner-caller.js';
import { wholeAnswer } from './whole-answer.js';
import type { DryOutcome } from './outcome.js';

type Answer = Pick<DryOutcome, 'answer' | 'text'> & Partial<Pick<DryOutcome, 'error'>>;

/** The parts of an outcome that are read from the body of its answer. */
export function answerParts({ events, text }: Received, format: string): Answer {
  const answer = events.length > 0 ? wholeAnswer(format, events) : jsonOrText(text);
  const error = events.length > 0 ? lastError(events.map(({ data }) => data)) : errorOf(answer);
  return { answer, text: textsOf(answer).join('\n'), ...(error && { error }) };
}

function lastError(data: readonly unknown[]): DryOutcome['error'] {
  return data.map(errorOf).findLast((error) => error !== undefined);
}

/** The error object of any of the formats. */
function errorOf(value: unknown): DryOutcome['error'] {
  const { error, type, response } = Object(value) as Record<string, unknown>; // any object has properties
  const failed = type === 'response.failed' ? (Object(response) as { error?: unknown }).error : undefined;
  const found = failed ?? (type === 'error' && error === undefined ? value : error);
  if (typeof found !== 'object' || found === null) return undefined;
  const { code, type: kind, message } = found as Record<string, unknown>;
  return { code: textOf(code) || textOf(kind), message: textOf(message) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Places of the model's text in the answers of the formats. */
function textsOf(answer: unknown): readonly string[] {
  const { content, choices, output } = Object(answer) as Record<string, unknown>;
  const parts = [content, choices, output].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  );
  return parts.flatMap((part) => {
    const { type, text, message, content: inner } = Object(part) as Record<string, unknown>;
    if (
      typeof text === 'string' &&
      (type === undefined || (typeof type === 'string' && type.endsWith('text')))
    )
      return [text];
    if (typeof message === 'object' && message !== null) {
      const said = (message as { content?: unknown }).content;
      return typeof said === 'string' ? [said] : textsOf(message);
    }
    return Array.isArray(inner) ? textsOf({ content: inner }) : [];
  });
}
