import { expect } from 'chai';
import * as fc from 'fast-check';
import { ModelEvent, type Format, type MessagesStreamEvent } from '@gw2api/gateway/plugin';
import { messageEvents } from '@gw2api/gateway/testing';
import chat from '#plugins/formats/chat/index.js';
import completions from '#plugins/formats/completions/index.js';
import messages from '#plugins/formats/messages/index.js';
import responses from '#plugins/formats/responses/index.js';
import { MessageReader } from '#src/engine/transport/events/message-reader.js';
import { replyOf, streamed, whole } from './streams.js';

const formats: readonly (readonly [Format, object])[] = [
  [messages, { model: 'asked', messages: [] }],
  [chat, { model: 'asked', messages: [] }],
  [completions, { model: 'asked', prompt: 'Say' }],
  [responses, { model: 'asked', input: 'Say', store: false }],
];

/** As `JSON.stringify` writes it, with padding, or with every character escaped by its number. */
const writings: readonly ((event: MessagesStreamEvent) => string)[] = [
  (event) => JSON.stringify(event),
  (event) => `${JSON.stringify(event).slice(0, -1)}    }`,
  (event) =>
    JSON.stringify(event).replaceAll(
      /[^\x20-\x7e]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
];

function received(
  texts: readonly string[],
  write: (event: MessagesStreamEvent) => string,
): readonly ModelEvent[] {
  const [start, open, ...rest] = messageEvents();
  const deltas = texts.map((text) => {
    return { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } } as const;
  });
  const events = [start!, open!, ...deltas, ...rest.slice(-3)];
  const sse = events.map((event) => `event: ${event.type}\ndata: ${write(event)}\n\n`).join('');
  return new MessageReader().read(Buffer.from(sse));
}

async function answersTo(events: readonly ModelEvent[]): Promise<readonly unknown[]> {
  const answers = formats.map(async ([format, body]) => {
    const { text, error } = await streamed(format, body, replyOf(events));
    expect(error).to.equal(undefined);
    return [format === messages ? '' : text, await whole(format, body, replyOf(events))];
  });
  return JSON.parse(
    JSON.stringify(await Promise.all(answers)).replaceAll(/[0-9a-f]{32}/g, 'id'),
  ) as unknown[];
}

describe('a text delta that was cut out of a stream', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({
      unit: fc.constantFrom('a', '"', '\\', '\n', '\t', '\u0000', '\u2028', '😀', '\ud83d', '\ude00'),
    }),
  );

  it('is written in every format as one that was parsed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { maxLength: 6 }),
        fc.constantFrom(...writings),
        async (texts, write) => {
          const events = received(texts, write);
          const parsed = events.map(({ type, data }) => new ModelEvent(type, data));
          expect(parsed.some(({ delta }) => delta)).to.equal(false);
          expect(await answersTo(events)).to.deep.equal(await answersTo(parsed));
        },
      ),
    );
  });

  it('is what most deltas are', () => {
    const events = received(['a', 'ö “b”\n', ' c'], (event) => `${JSON.stringify(event).slice(0, -1)}  }`);
    expect(events.flatMap(({ delta }) => delta?.text ?? [])).to.deep.equal(['a', 'ö “b”\n', ' c']);
  });
});
