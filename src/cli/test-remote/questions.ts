import { randomBytes } from 'node:crypto';
import type { RemoteQuestion } from '../../plugin/remote/index.js';

type Of<Phase> = Extract<RemoteQuestion, { readonly phase: Phase }>;

/** Question about a plain request. */
export function requestQuestion(fields: Partial<Of<'request'>> = {}): Of<'request'> {
  return { ...always(), phase: 'request', request: { messages: conversation(1) }, ...fields };
}

/** Question about a plain answer. */
export function answerQuestion(fields: Partial<Of<'answer'>> = {}): Of<'answer'> {
  return {
    ...always(),
    phase: 'answer',
    request: { messages: conversation(1) },
    answer: { content: [{ type: 'text', text: answerText }], stop_reason: 'end_turn', usage },
    ...fields,
  };
}

/** Question about events, as the first one of an answer. */
export function eventsQuestion(fields: Partial<Of<'events'>> = {}): Of<'events'> {
  return {
    ...always(),
    phase: 'events',
    request: { messages: conversation(1) },
    seq: 0,
    events: [],
    last: true,
    ...fields,
  };
}

function always() {
  return {
    version: 1 as const,
    id: `test_${randomBytes(12).toString('hex')}`,
    stage: 'test-remote',
    pipeline: 'default',
    format: 'messages',
    stream: true,
    context: {},
    state: null,
  };
}

/** Messages of a plain conversation, which end with the user. */
export function conversation(turns: number): { readonly role: string; readonly content: string }[] {
  const all = Array.from({ length: turns }, (_, at) => [
    { role: 'user', content: `What is the capital of the country number ${at + 1} in the list?` },
    { role: 'assistant', content: `It is the city in row ${at + 1}.` },
  ]);
  return all.flat().slice(0, -1);
}

const answerText = 'The capital of France is Paris. It lies on the Seine.';

export const usage = { input_tokens: 20, output_tokens: 12 };
