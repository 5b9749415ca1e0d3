import { expect } from 'chai';
import { eventsIn } from '../../harness.js';
import { chatStream, responsesStream, startKinds, type SlotKinds } from '../../slots/upstreams/slot-kinds.js';

const data = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;
const deep = `{"a":${'['.repeat(20_000)}1.0${']'.repeat(20_000)}}`;
const pieces = ['a\ud83d', '\ude00b\ud83d', '\ude01'];

/** Streams whose texts are cut within surrogate pairs. */
const split: Readonly<Record<string, string>> = {
  generic: chatStream(pieces.map((content) => ({ content }))),
  responses:
    data({ type: 'response.created', response: { id: 'resp_1', model: 'm' } }) +
    data({ type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1', content: [] } }) +
    pieces.map((delta) => data({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta })).join('') +
    data({ type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [] } }),
}; // prettier-ignore

/** Streams with arguments that are an object of many levels. */
const nested: Readonly<Record<string, string>> = {
  generic: chatStream(
    [{ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: 'DEEP' } }] }],
    'tool_calls',
  ).replace('"DEEP"', deep),
  responses: responsesStream([
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: 'DEEP' },
  ]).replaceAll('"DEEP"', deep),
};

interface TextEvent {
  readonly delta?: { readonly text?: string };
}

describe('an odd answer', () => {
  let kinds: SlotKinds;
  before(async () => void (kinds = await startKinds({ without: ['persona-inject', 'web-search-tool'] })));
  after(() => kinds.close());

  const body = { model: 'sonnet-5', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] };

  for (const slot of ['generic', 'responses']) {
    it(`has its surrogate pairs joined for Messages callers, from a ${slot} slot`, async () => {
      kinds.play(() => split[slot]);
      const response = await kinds.ask(slot, '/v1/messages', { ...body, stream: true });
      const events = eventsIn(await response.text()) as readonly TextEvent[];
      const texts = events.flatMap(({ delta }) => delta?.text ?? []);
      expect(texts.join('')).to.equal('a😀b😁');
      expect(texts.every((text) => text.isWellFormed())).to.equal(true);
    });

    it(`of arguments that are nested too deeply is the fault of a ${slot} upstream`, async () => {
      kinds.play(() => nested[slot]);
      const response = await kinds.ask(slot, '/v1/messages', body);
      const { error } = (await response.json()) as { readonly error: { readonly message: string } };
      expect([response.status, error.message]).to.deep.equal([502, error.message]);
      expect(error.message).to.include('nested');
    });
  }
});
