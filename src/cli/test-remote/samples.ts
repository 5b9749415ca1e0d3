import { usage } from './questions.js';

type Event = Readonly<Record<string, unknown>>;

const message = {
  id: 'msg_test',
  type: 'message',
  role: 'assistant',
  model: 'test-model',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { ...usage, output_tokens: 1 },
};

/** First events of an answer. */
export const start: readonly Event[] = [{ type: 'message_start', message }];

/** Last events of an answer. */
export function end(reason = 'end_turn'): readonly Event[] {
  const delta = { stop_reason: reason, stop_sequence: null };
  return [{ type: 'message_delta', delta, usage: { output_tokens: 12 } }, { type: 'message_stop' }];
}

/** Events of a block: its start, its deltas and its stop. */
export function block(index: number, content_block: object, deltas: readonly object[]): readonly Event[] {
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

/** Events of a text block, one delta for each piece. */
export function textBlock(index: number, pieces: readonly string[]): readonly Event[] {
  return block(
    index,
    { type: 'text', text: '' },
    pieces.map((text) => ({ type: 'text_delta', text })),
  );
}

/** Events of a tool call, one delta for each piece of its input. */
export function toolBlock(index: number, pieces: readonly string[]): readonly Event[] {
  return block(
    index,
    { type: 'tool_use', id: 'toolu_test', name: 'search', input: {} },
    pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  );
}

/** Events of an answer with a text block, one delta for each piece. */
export function textAnswer(pieces: readonly string[]): readonly Event[] {
  return [...start, ...textBlock(0, pieces), ...end()];
}

/** Pieces of a text, of at most so many UTF-16 code units each. */
export function pieces(text: string, size: number): readonly string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
}

/** Text with parts that servers look for: addresses, numbers of phones, cards and accounts, keys. */
export const telling = [
  'Write to jane.doe@example.com or call +1 202-555-0143, please.',
  'The card is 4111 1111 1111 1111, the account DE89 3704 0044 0532 0130 00,',
  'the SSN 078-05-1120, the key sk-test-4eC39HqLyjWDarjtT1zdp7dc, the host 192.168.1.20.',
].join(' ');
