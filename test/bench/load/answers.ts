import { createParser } from 'eventsource-parser';
import type { FormatName } from '../../support/formats.js';

/** The texts of an answer's deltas, in order; a whole answer has one. Throws where it is not complete. */
export function textsIn(format: FormatName, isStream: boolean, body: string): readonly string[] {
  const shape = shapes[format];
  if (!isStream) return textAt(JSON.parse(body), shape.whole);
  const data = dataIn(body);
  if (!shape.end.test(data.slice(-2).join('\n'))) throw new Error(`no end: …${body.slice(-200)}`);
  return data.flatMap((text) => (text === '[DONE]' ? [] : textAt(JSON.parse(text), shape.delta)));
}

type Path = readonly (string | number)[];

interface Shape {
  /** Path of the text in a whole answer. */
  readonly whole: Path;
  /** Path of the text in a delta; other events have nothing there. */
  readonly delta: Path;
  /** Pattern in the last two events of a complete stream. */
  readonly end: RegExp;
}

const shapes: Readonly<Record<FormatName, Shape>> = {
  messages: { whole: ['content', 0, 'text'], delta: ['delta', 'text'], end: /"message_stop"\s*\}$/ },
  chat: {
    whole: ['choices', 0, 'message', 'content'],
    delta: ['choices', 0, 'delta', 'content'],
    end: /^\[DONE\]$/m,
  },
  responses: {
    whole: ['output', 0, 'content', 0, 'text'],
    delta: ['delta'],
    end: /"type":"response\.completed"/,
  },
  completions: { whole: ['choices', 0, 'text'], delta: ['choices', 0, 'text'], end: /^\[DONE\]$/m },
};

function dataIn(body: string): readonly string[] {
  const all: string[] = [];
  createParser({ onEvent: ({ data }) => all.push(data) }).feed(body);
  return all;
}

/** The text there, where there is one that is not empty. */
function textAt(value: unknown, path: Path): readonly string[] {
  const found = path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);
  return typeof found === 'string' && found !== '' ? [found] : [];
}

function isRecord(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === 'object' && value !== null;
}
