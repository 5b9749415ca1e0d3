import { expect } from 'chai';
import type { MessagesResponse } from '@gw2api/gateway/plugin';
import { recordedRequests } from '../../../plugins/formats/contexts.js';
import { dialects, formatNames, timelessValue } from '../dialects.js';
import { each } from './each.js';
import { slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { json, promptOf, startReplay, type Replay } from './replay.js';

// They are bodies, too.
const recordings = recordedRequests('messages-responses') ?? new Map<string, unknown>();
const messages = [...recordings.keys()].filter((name) => name !== 'count-tokens.json');

/** For upstreams that pass over `stream: true`, as some compatible services do. */
describe('a recorded whole answer', () => {
  let replay: Replay;
  let gateway: GatewayUnderTest;

  before(async function () {
    if (recordings.size === 0) this.skip();
    replay = await startReplay((received) =>
      json(recordings.get(received.path === '/v1/messages' ? promptOf(received) : 'count-tokens.json')),
    );
    gateway = await startGateway({
      slots: [slotAt(replay.url)],
      pipeline: stages({ without: ['persona-inject', 'web-search-tool'] }),
    });
  });
  after(() => gateway?.close());
  after(() => replay?.close());

  it('reaches a caller of Messages as it is, but for the name of the model and citations that are null', async () => {
    const { path, request } = dialects.messages;
    await each(messages, String, async (name) => {
      const { content, ...rest } = recordings.get(name) as MessagesResponse;
      const shown = content.map((block) =>
        Object.fromEntries(
          Object.entries(block).filter(([name, value]) => name !== 'citations' || value !== null),
        ),
      );
      const response = await gateway.post(path, request(name));
      expect(await response.json()).to.deep.equal({ ...rest, content: shown, model: 'sonnet-5' });
    });
  });

  for (const format of formatNames)
    it(`is the fold of its ${format} stream, with the same usage`, async () => {
      const { path, request, fold, whole } = dialects[format];
      await each(messages, String, async (name) => {
        const streamed = await gateway.post(path, { ...request(name), stream: true });
        const folded = timelessValue(await fold(await streamed.text()));
        const response = await gateway.post(path, request(name));
        expect(timelessValue(whole(await response.json()))).to.deep.equal(folded);
        expect(folded).to.have.property('usage').that.is.an('object');
      });
    });

  it('counts its tokens the same in every format', async () => {
    await each(messages, String, async (name) => {
      const { usage } = recordings.get(name) as MessagesResponse;
      const input =
        usage.input_tokens! + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
      const usageIn = async (format: keyof typeof dialects) => {
        const { path, request } = dialects[format];
        const response = await gateway.post(path, request(name));
        return ((await response.json()) as { usage: Record<string, number> }).usage;
      };
      const chat = { prompt_tokens: input, completion_tokens: usage.output_tokens };
      expect(await usageIn('messages')).to.deep.equal(usage);
      expect(await usageIn('chat')).to.include(chat);
      expect(await usageIn('completions')).to.include(chat);
      expect(await usageIn('responses')).to.include({
        input_tokens: input,
        output_tokens: usage.output_tokens,
        total_tokens: input + usage.output_tokens!,
      });
    });
  });

  it('of count_tokens is passed on', async () => {
    const response = await gateway.post('/v1/messages/count_tokens', dialects.messages.request('Hi'));
    expect(await response.json()).to.deep.equal(recordings.get('count-tokens.json'));
    expect(response.headers.has('x-gw-estimated')).to.equal(false);
  });
});
