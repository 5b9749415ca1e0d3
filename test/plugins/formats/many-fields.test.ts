import { expect } from 'chai';
import { responsesItems } from '#plugins/formats/chat/input-items.js';
import { settings } from '#plugins/formats/responses/envelope.js';
import { formats, type FormatName } from '../../support/formats.js';
import { contextWith } from './contexts.js';
import { countedPart } from './counted-fields.js';

/** A part of a body with the fields that its format knows, and its place there. */
interface Place {
  readonly name: string;
  readonly format: FormatName;
  readonly known: object;
  readonly body: (part: object) => object;
}

const parameters = { type: 'object', properties: {} };
const user = { role: 'user', content: 'Hi' };
const text = { type: 'text', text: 'Hi' };
const inMessages = (message: object) => ({ messages: [message] });
const inTools = (tool: object) => ({ messages: [user], tools: [tool] });
const inInput = (item: object) => ({ input: [item], store: false });
const inOwnTools = (tool: object) => ({ input: 'Hi', tools: [tool] });

const chatPlaces: readonly Omit<Place, 'format'>[] = [
  { name: 'a message', known: user, body: inMessages },
  { name: 'a part', known: text, body: (part) => inMessages({ role: 'user', content: [part] }) },
  { name: 'a tool', known: { type: 'function', function: { name: 'f' } }, body: inTools },
  {
    name: 'a function',
    known: { name: 'f', parameters },
    body: (definition) => inTools({ type: 'function', function: definition }),
  },
  { name: 'a function of Messages', known: { name: 'f', input_schema: parameters }, body: inTools },
  { name: 'a flat custom tool', known: { type: 'custom', name: 'f' }, body: inTools },
  {
    name: 'the options of a web search',
    known: {},
    body: (options) => ({ messages: [user], web_search_options: options }),
  },
];

const responsesPlaces: readonly Omit<Place, 'format'>[] = [
  { name: 'a message', known: user, body: inInput },
  { name: 'a part', known: text, body: (part) => inInput({ role: 'user', content: [part] }) },
  { name: 'a function', known: { type: 'function', name: 'f', parameters }, body: inOwnTools },
  { name: 'a custom tool', known: { type: 'custom', name: 'f' }, body: inOwnTools },
  { name: 'a web search', known: { type: 'web_search' }, body: inOwnTools },
  {
    name: 'a tool of a namespace',
    known: { type: 'function', name: 'f', parameters },
    body: (tool) => inOwnTools({ type: 'namespace', name: 'n', tools: [tool] }),
  },
];

const places: readonly Place[] = [
  ...chatPlaces.map((place) => ({ ...place, format: 'chat' as const })),
  ...responsesPlaces.map((place) => ({ ...place, format: 'responses' as const })),
];

describe('20,000 unknown fields of', () => {
  for (const { name, format, known, body } of places)
    it(`${format}, ${name}: few are looked at, and none is copied`, async () => {
      const { part, looks } = countedPart(known, 20_000);
      const given = { model: 'm', ...body(part) };
      const context = contextWith();
      const { dropped } = await formats[format].decode(given, context);
      expect(dropped).to.have.length(1000);
      await formats[format].encoder(given, context);
      expect(looks()).to.be.below(2500);
    });

  it('chat, a message of many items: one of these has them all', async () => {
    const content = [
      text,
      { type: 'thinking', thinking: 'Hm' },
      text,
      { type: 'thinking', thinking: 'So' },
      text,
    ];
    const { part } = countedPart({ role: 'assistant', phase: 'commentary', content }, 20_000);
    const messages = responsesItems([part], new Set()).items.filter((item) => 'role' in Object(item));
    expect(messages.map((item) => Object.keys(Object(item)).length)).to.deep.equal([20_003, 4, 4]);
    const { request, dropped } = await formats.chat.decode(
      { model: 'm', input: [user, part, user] },
      contextWith(),
    );
    const blocks = Object(request.messages[1]?.content) as readonly object[];
    expect(blocks.filter((block) => 'phase' in block)).to.have.length(3);
    expect([...new Set(dropped)]).to.deep.equal(['input[1]']);
  });

  it('responses, a tool: each is looked at once for the response', () => {
    const { part, looks } = countedPart({ type: 'function', name: 'f' }, 20_000);
    const { tools } = settings({ tools: [part] });
    expect(JSON.stringify(tools)).to.match(/^\[\{"description":null,"parameters":null,"strict":null,"type":/);
    expect(looks()).to.equal(20_000);
  });
});

describe('tools that an input adds', () => {
  it('are compared with those of the body, whether they are deferred or not', async () => {
    const tool = { type: 'function', name: 'f', parameters };
    const deferred = { ...tool, defer_loading: true };
    const added = { type: 'additional_tools', tools: [tool, deferred, { ...tool, name: 'g' }] };
    const body = { model: 'm', input: [added, user], tools: [deferred] };
    const { request, dropped } = await formats.responses.decode(body, contextWith());
    expect(request.tools?.map(({ name }) => name)).to.deep.equal(['f', 'g']);
    expect(dropped).to.deep.equal(['tools[0].defer_loading', 'input[0].tools[1].defer_loading']);
  });
});
