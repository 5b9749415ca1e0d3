import { expect } from 'chai';
import {
  EventStream,
  mapText,
  TextMapper,
  type MessagesStreamEvent,
  type ModelEvents,
  type TextMap,
} from '#src/plugin/index.js';
import { eventsOf, messageEvents } from '@gw2api/gateway/testing';

const said = 'All is well here. A secret, and what follows it, which is long enough.';

/** Ways of an upstream to send a text. */
const wires: Readonly<Record<string, readonly MessagesStreamEvent[]>> = {
  'deltas of one character': messageEvents({ text: said }).flatMap((event) => inCharacters(event)),
  'one delta': messageEvents({ text: said }),
  'a text that ends with its match': messageEvents({ text: 'A secret' }),
  'the start of a block': messageEvents({ text: said }).flatMap(asBlockStart),
  'the start of the message': asMessageStart(messageEvents({ text: '' })),
};

function inCharacters(event: MessagesStreamEvent): readonly MessagesStreamEvent[] {
  if (event.type !== 'content_block_delta' || event.delta.type !== 'text_delta') return [event];
  return event.delta.text.split('').map((text) => ({ ...event, delta: { type: 'text_delta', text } }));
}

function asBlockStart(event: MessagesStreamEvent): readonly MessagesStreamEvent[] {
  if (event.type === 'content_block_delta') return [];
  return event.type === 'content_block_start'
    ? [{ ...event, content_block: { type: 'text', text: said } }]
    : [event];
}

function asMessageStart([start, ...rest]: readonly MessagesStreamEvent[]): readonly MessagesStreamEvent[] {
  if (start?.type !== 'message_start') throw new Error('has no start');
  const content = ['Fine. ', said, ' More.'].map((text) => ({ type: 'text', text }) as const);
  return [{ ...start, message: { ...start.message, content } }, ...rest];
}

/** Maps that fail at the match, with what the match says besides. */
const faults: Readonly<Record<string, (match: object) => TextMap>> = {
  onMatch: (match) => ({
    hold: 12,
    find: (text, from) => found(text, from, match),
    onMatch() {
      throw new Error('a slip');
    },
  }),
  'find, the first time': (match) => {
    let hasFailed = false;
    return {
      hold: 12,
      find(text, from) {
        const there = found(text, from, match);
        if (!there || hasFailed) return undefined;
        hasFailed = true;
        throw new Error('a slip');
      },
    };
  },
};

function found(text: string, from: number, match: object) {
  const start = text.indexOf('secret', from);
  return start < 0 ? undefined : { start, end: start + 6, ...match };
}

const matches: Readonly<Record<string, object>> = {
  'replaces it': { text: '***' },
  'ends the answer': { ends: { stop_reason: 'refusal' } },
};

const ways: Readonly<Record<string, (events: ModelEvents, map: TextMap) => EventStream>> = {
  mapText,
  'through a TextMapper': (events, map) => EventStream.from(events).through(new TextMapper(map)),
};

/** What is let out of a stream, as JSON, and the errors that it ends with. */
async function outcome(stream: EventStream): Promise<{ readonly out: string; readonly failure: unknown }> {
  const out: MessagesStreamEvent[] = [];
  try {
    for await (const batch of stream) out.push(...batch.map(({ json }) => json));
  } catch (failure) {
    return { out: JSON.stringify(out), failure };
  }
  return { out: JSON.stringify(out), failure: undefined };
}

describe('a map of texts that throws', () => {
  for (const [way, through] of Object.entries(ways))
    for (const [fault, mapOf] of Object.entries(faults))
      for (const [what, match] of Object.entries(matches))
        for (const [wire, events] of Object.entries(wires))
          it(`lets out nothing from the match on: ${way}, ${fault}, ${what}, ${wire}`, async () => {
            const { out, failure } = await outcome(through(eventsOf(events), mapOf(match)));
            expect(failure).to.have.property('message', 'a slip');
            expect(out).not.to.match(
              /secret|\*\*\*|, and|follows|enough|More|message_(delta|stop)|block_stop/,
            );
          });

  it('lets out nothing where the upstream has failed too, whose error is the one that is told', async () => {
    for (const through of Object.values(ways))
      for (const mapOf of Object.values(faults)) {
        const begun = messageEvents({ text: 'A secret' }).slice(0, 3);
        const { out, failure } = await outcome(
          through(eventsOf(begun, new Error('gone')), mapOf({ text: '*' })),
        );
        expect(failure).to.have.property('message', 'gone');
        expect(out).not.to.match(/secret|\*/);
      }
  });

  it('lets out what is held, searched, where the upstream alone has failed', async () => {
    for (const through of Object.values(ways)) {
      const begun = messageEvents({ text: 'A secret, and' }).slice(0, 3);
      const map: TextMap = { hold: 12, find: (text, from) => found(text, from, { text: '***' }) };
      const { out, failure } = await outcome(through(eventsOf(begun, new Error('gone')), map));
      expect(failure).to.have.property('message', 'gone');
      expect(out).to.include('A ***').and.include(', and');
    }
  });

  it('marks no answer as ended whose upstream has failed', async () => {
    for (const through of Object.values(ways)) {
      const begun = messageEvents({ text: 'A secret, and' }).slice(0, 3);
      const map: TextMap = { hold: 12, find: (text, from) => found(text, from, matches['ends the answer']!) };
      const { out, failure } = await outcome(through(eventsOf(begun, new Error('gone')), map));
      expect(failure).to.have.property('message', 'gone');
      expect(out)
        .to.include('A ')
        .and.not.match(/secret|and|message_(?:delta|stop)/);
    }
  });
});
