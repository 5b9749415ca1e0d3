import type { Ask } from '../workloads.js';
import { sessionBody } from './sessions.js';

/** The path that a format is served at. */
export const paths = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  completions: '/v1/completions',
} as const;

/** Bodies of so many requests, of which the target has had `first` before; one where all have the same. */
export function bodiesOf(ask: Ask, first: number, requests: number): readonly Buffer[] {
  if (!ask.sessions) return [Buffer.from(bodyOf(ask))];
  return Array.from({ length: requests }, (_, at) => Buffer.from(sessionBody(ask, first + at)));
}

/** The JSON body of a request; its model is the script, so that a gateway can tell by it whom to ask. */
export function bodyOf({ format, isStream, script, promptBytes = 0 }: Ask): string {
  const asked = { model: script, stream: isStream };
  const turns = conversation(promptBytes);
  const bodies = {
    messages: { ...asked, max_tokens: 1000, messages: turns },
    chat: { ...asked, max_tokens: 1000, messages: turns },
    responses: { ...asked, max_output_tokens: 1000, input: turns, store: false },
    completions: { ...asked, max_tokens: 1000, prompt: 'Tell me something.' },
  };
  return JSON.stringify(bodies[format]);
}

/** A question, after as many earlier turns as make up the bytes. */
function conversation(bytes: number): readonly object[] {
  const pairs = Math.ceil(bytes / 2 / turnBytes);
  const earlier = Array.from({ length: pairs }, (_, at) => [
    { role: 'user', content: turn(`Question ${at}.`) },
    { role: 'assistant', content: turn(`Answer ${at}.`) },
  ]);
  return [...earlier.flat(), { role: 'user', content: 'Tell me something.' }];
}

const turnBytes = 4000;

function turn(start: string): string {
  return `${start} ${'Some text with a "quotation" in it,\nand two lines. '.repeat(turnBytes / 52)}`;
}
