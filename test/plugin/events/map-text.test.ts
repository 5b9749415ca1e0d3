import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  EventStream,
  foldMessage,
  mapText,
  ModelEvent,
  TextMapper,
  type ContentBlock,
  type Delta,
  type MessagesStreamEvent,
  type TextMap,
} from '#src/plugin/index.js';
import { collectEvents, eventsOf, messageEvents } from '@gw2api/gateway/testing';

/** A map that replaces what an expression matches; the expression must be global. */
function replacing(expression: RegExp, text: string, more: Partial<TextMap> = {}): TextMap {
  return {
    hold: 8,
    find(searched, from) {
      expression.lastIndex = from;
      const found = expression.exec(searched);
      return found ? { start: found.index, end: expression.lastIndex, text } : undefined;
    },
    ...more,
  };
}

const secret = replacing(/\bs(?:ecret|e+)\b/g, '***');

/** An answer with one block, which comes in these pieces. */
function inPieces(kind: keyof typeof shapes, pieces: readonly string[]): MessagesStreamEvent[] {
  const [block, delta] = shapes[kind];
  const [start, , , ...rest] = messageEvents({ text: '' });
  return [
    start!,
    { type: 'content_block_start', index: 0, content_block: block },
    ...pieces.map((piece) => ({ type: 'content_block_delta', index: 0, delta: delta(piece) }) as const),
    { type: 'content_block_stop', index: 0 },
    ...rest.slice(-2),
  ];
}

const shapes: Readonly<
  Record<'text' | 'thinking' | 'input', readonly [ContentBlock, (text: string) => Delta]>
> = {
  text: [{ type: 'text', text: '' }, (text: string) => ({ type: 'text_delta', text })],
  thinking: [
    { type: 'thinking', thinking: '', signature: '' },
    (thinking: string) => ({ type: 'thinking_delta', thinking }),
  ],
  input: [
    { type: 'tool_use', id: 't', name: 'n', input: {} },
    (partial_json: string) => ({ type: 'input_json_delta', partial_json }),
  ],
};

async function mapped(
  events: readonly MessagesStreamEvent[],
  map: TextMap,
): Promise<readonly ContentBlock[]> {
  return (await foldMessage(mapText(eventsOf(events), map))).content;
}

/** Cuts a text at these places. */
function cut(text: string, places: readonly number[]): readonly string[] {
  const at = [0, ...places.map((place) => place % (text.length + 1)).toSorted((a, b) => a - b), text.length];
  return at.slice(1).map((end, nth) => text.slice(at[nth], end));
}

/** An answer whose content stands in its `message_start`, and one more block behind it. */
function startingWith(...content: readonly ContentBlock[]): readonly MessagesStreamEvent[] {
  const [start, ...rest] = messageEvents({ text: 'A secret.' });
  if (start?.type !== 'message_start') throw new Error('has no start');
  return [{ ...start, message: { ...start.message, content } }, ...rest];
}

describe('mapText in a message_start', () => {
  const said: ContentBlock = { type: 'text', text: 'My secret is out.' };
  const tool: ContentBlock = { type: 'tool_use', id: 't', name: 'n', input: { a: 'secret' } };

  it('searches the content that the message begins with', async () => {
    const kinds = ['text', 'input'] as const;
    const content = await mapped(startingWith(said, tool), { ...secret, kinds });
    expect(content).to.deep.equal([
      { type: 'text', text: 'My *** is out.' },
      { ...tool, input: { a: '***' } },
      { type: 'text', text: 'A ***.' },
    ]);
  });

  it('leaves kinds alone that are not searched, and events without content as they are', async () => {
    expect((await mapped(startingWith(tool), secret))[0]).to.deep.equal(tool);
    const [start] = messageEvents({ text: '' });
    const event = ModelEvent.of(start!);
    const mapper = new TextMapper(secret);
    expect(mapper.transform([event])?.[0]).to.equal(event);
  });

  it('ends the answer there, without what follows', async () => {
    const ends = { stop_reason: 'refusal' } as const;
    const ending: TextMap = {
      ...secret,
      find(...args) {
        const match = secret.find(...args);
        return match && { ...match, text: '', ends };
      },
    };
    const events = eventsOf(startingWith(said, { type: 'text', text: 'More.' }));
    const message = await foldMessage(mapText(events, ending));
    expect(message.content).to.deep.equal([{ type: 'text', text: 'My ' }]);
    expect(message.stop_reason).to.equal('refusal');
  });
});

describe('mapText', () => {
  const words = fc.constantFrom('secret', 'se', 'see', 'seee', 'secrets', ' ', 'x', '😀', '\ud83d', 'é');
  const texts = fc.array(words, { maxLength: 60 }).map((parts) => parts.join(''));

  it('replaces the same, however the text is split', () =>
    fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat(), { maxLength: 20 }), async (text, places) => {
        const [block] = await mapped(inPieces('text', cut(text, places)), secret);
        expect(block).to.deep.equal({ type: 'text', text: text.replaceAll(/\bs(?:ecret|e+)\b/g, '***') });
      }),
      { numRuns: 300 },
    ));

  it('is split-proof even where matches are longer than it holds', () =>
    fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat(), { maxLength: 20 }), async (text, places) => {
        const map = replacing(/s[^x]*😀/g, '#');
        const pieces = await mapped(inPieces('text', cut(text, places)), map);
        expect(pieces).to.deep.equal(await mapped(inPieces('text', [text]), map));
      }),
      { numRuns: 300 },
    ));

  it('never cuts a surrogate pair', async () => {
    const pieces = ['😀'.repeat(40)];
    const events = await collectEvents(
      mapText(eventsOf(inPieces('text', pieces)), replacing(/x/g, '', { hold: 1 })),
    );
    expect(JSON.stringify(events)).not.to.match(/\\ud83/);
  });

  it('searches thinking and the input of tools where asked', async () => {
    for (const [kind, expected] of [
      ['thinking', { type: 'thinking', thinking: 'a ***!', signature: '' }],
      ['input', { type: 'tool_use', id: 't', name: 'n', input: { a: '***' } }],
    ] as const) {
      const pieces = kind === 'input' ? ['{"a":"sec', 'ret"}'] : ['a se', 'cret!'];
      const [found] = await mapped(inPieces(kind, pieces), { ...secret, kinds: [kind] });
      expect(found).to.deep.equal(expected);
      const plain = await mapped(inPieces(kind, pieces), secret);
      expect(JSON.stringify(plain)).to.include('secret');
    }
  });

  it('searches what a block begins with', async () => {
    const events = inPieces('text', ['ret.']);
    const block = { type: 'text', text: 'A sec' } as const;
    events[1] = { type: 'content_block_start', index: 0, content_block: block };
    expect(await mapped(events, secret)).to.deep.equal([{ type: 'text', text: 'A ***.' }]);
    const tool = { type: 'tool_use', id: 't', name: 'n', input: { a: 'secret' } } as const;
    events.splice(1, 2, { type: 'content_block_start', index: 0, content_block: tool });
    const [found] = await mapped(events, { ...secret, kinds: ['input'] });
    expect(found).to.deep.equal({ ...tool, input: { a: '***' } });
  });

  it('keeps blocks and choices apart, and each text before the end of its block', async () => {
    const { content } = await foldMessage(
      mapText(
        eventsOf(messageEvents({ content: ['a sec', 'ret'].map((text) => ({ type: 'text', text })) })),
        secret,
      ),
    );
    expect(content).to.deep.equal([
      { type: 'text', text: 'a sec' },
      { type: 'text', text: 'ret' },
    ]);
    const both = EventStream.merge(
      ['one secret', 'two sec'].map((text) => eventsOf(...inPieces('text', text.split('')))),
    );
    const out: ModelEvent[] = [];
    for await (const batch of mapText(both, secret)) out.push(...batch);
    const text = (choice: number) => foldMessage(EventStream.from(batchOf(out)), choice);
    expect((await text(0)).content).to.deep.equal([{ type: 'text', text: 'one ***' }]);
    expect((await text(1)).content).to.deep.equal([{ type: 'text', text: 'two sec' }]);
  });

  it('lets out what it holds, searched, before an error and before a signature', async () => {
    const events = inPieces('text', ['a secret']).slice(0, 3);
    const stream = mapText(eventsOf(events, new Error('gone')), secret);
    const seen: MessagesStreamEvent[] = [];
    let failure: unknown;
    try {
      for await (const batch of stream) for (const { json } of batch) seen.push(json);
    } catch (error) {
      failure = error;
    }
    expect(failure).to.have.property('message', 'gone');
    expect(JSON.stringify(seen.at(-1))).to.include('a ***');
    const thought = inPieces('thinking', ['a secret']);
    const delta = { type: 'signature_delta', signature: 's' } as const;
    thought.splice(-3, 0, { type: 'content_block_delta', index: 0, delta });
    const all = await collectEvents(mapText(eventsOf(thought), { ...secret, kinds: ['thinking'] }));
    const deltas = all.flatMap((json) => (json.type === 'content_block_delta' ? [json.delta.type] : []));
    expect(deltas.at(-1)).to.equal('signature_delta');
    expect(deltas).to.include('thinking_delta');
  });

  it('passes events on as they came where their text is not searched', async () => {
    const events = inPieces('thinking', ['a', 'b']).map((event) => ModelEvent.of(event));
    const out: ModelEvent[] = [];
    for await (const batch of mapText(EventStream.from(batchOf(events)), secret)) out.push(...batch);
    expect(out).to.have.length(events.length);
    for (const [nth, event] of out.entries()) expect(event).to.equal(events[nth]);
  });

  it('ends the answer where a match says so', async () => {
    const ending: TextMap = {
      ...secret,
      find: (text, from, kind) => {
        const match = secret.find(text, from, kind);
        return match && { ...match, text: '', ends: { stop_reason: 'refusal' } };
      },
    };
    const events = eventsOf(...inPieces('text', ['All of it: se', 'cret, and ', 'more']));
    const message = await foldMessage(mapText(events, ending));
    expect(message.content).to.deep.equal([{ type: 'text', text: 'All of it: ' }]);
    expect(message).to.include({ stop_reason: 'refusal', stop_sequence: null });
    expect(message.usage.output_tokens).to.equal(3);
  });

  it('is over as a transform of one answer once a match has ended it', () => {
    const find = secret.find.bind(secret);
    const mapper = new TextMapper({
      hold: 8,
      find: (text, from, kind) => {
        const match = find(text, from, kind);
        return match && { ...match, ends: { stop_reason: 'end_turn' } };
      },
    });
    const [first, ...rest] = inPieces('text', ['secret and a long text', 'more']).map((event) =>
      ModelEvent.of(event),
    );
    expect(mapper.transform([first!])).to.deep.equal([first]);
    expect(mapper.isOver).to.equal(false);
    const out = mapper.transform(rest)!;
    expect(out.map(({ type }) => type).slice(-3)).to.deep.equal([
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(mapper.isOver).to.equal(true);
    expect(mapper.flush()).to.equal(undefined);
  });

  it('refuses to hold nothing, or without a bound', () => {
    for (const hold of [0, 1.5, 1e9, NaN])
      expect(() => new TextMapper({ ...secret, hold })).to.throw(/hold: must be/);
  });

  it('takes time in proportion to the text, one character at a time or all at once', async () => {
    const text = 'secre '.repeat(20_000);
    let searched = 0;
    const counting: TextMap = {
      ...secret,
      find(window, from, kind) {
        searched += window.length;
        return secret.find(window, from, kind);
      },
    };
    for (const pieces of [[text], text.split('')]) {
      searched = 0;
      await mapped(inPieces('text', pieces), counting);
      expect(searched).to.be.below(text.length * 12);
    }
  });
});

async function* batchOf(events: readonly ModelEvent[]): AsyncGenerator<readonly ModelEvent[]> {
  yield events;
}
