import { expect } from 'chai';
import { slotAt, stages, startGateway, startPair, type GatewayUnderTest, type Pair } from '../harness.js';
import { anthropicAt, modelCalls, openaiAt } from './sdk-clients.js';

const model = 'sonnet-5';

/** Asks in one format, streamed, and gives the text of the answer. */
type Asker = (under: GatewayUnderTest, content: string) => Promise<string | null | undefined>;

const askers: Readonly<Record<string, Asker>> = {
  Messages: (under, content) =>
    anthropicAt(under)
      .messages.stream({ model, max_tokens: 1000, messages: [{ role: 'user', content }] })
      .finalText(),
  'Chat Completions': (under, content) =>
    openaiAt(under)
      .chat.completions.stream({ model, messages: [{ role: 'user', content }] })
      .finalContent(),
  Responses: async (under, input) =>
    (await openaiAt(under).responses.stream({ model, input }).finalResponse()).output_text,
  Completions: async (under, prompt) => {
    let text = '';
    for await (const { choices } of await openaiAt(under).completions.create({ model, prompt, stream: true }))
      text += choices[0]?.text ?? '';
    return text;
  },
};

describe('many callers at once', () => {
  let pair: Pair;
  let narrow: GatewayUnderTest;
  before(async () => {
    pair = await startPair();
    const slots = ['a', 'b', 'c'].map((id) => slotAt(pair.simulator.url, { id, maxConcurrent: 3 }));
    narrow = await startGateway({
      slots,
      pipeline: stages({ with: { 'format-encode': { keepAlive: '20ms' } } }),
    });
  });
  after(async () => {
    await narrow.close();
    await pair.close();
  });

  it('each get their own answer, though more ask than there are places', async () => {
    const calls = Array.from({ length: 60 }, async (_, at) => {
      const [, asker] = Object.entries(askers)[at % 4]!;
      return asker(narrow, `I am number ${at}, and nobody else. [[sim:slow ms=0]]`);
    });
    const texts = await Promise.all(calls);
    texts.forEach((text, at) => expect(text).to.include(`You said: I am number ${at}, and nobody else.`));
    expect(modelCalls(pair)).to.have.length(60);
  });

  for (const [format, asker] of Object.entries(askers)) {
    it(`wait for a slow answer in ${format}, and are told meanwhile that it lives`, async () => {
      const text = await asker(narrow, 'Slowly. [[sim:slow ms=60]]');
      expect(text).to.include('You said: Slowly.');
    });
  }

  it('are told so by a comment, and in Messages by a ping', async () => {
    const messages = [{ role: 'user', content: 'Slowly. [[sim:slow ms=60]]' }];
    const chat = await narrow.post('/v1/chat/completions', { model, messages, stream: true });
    expect(await chat.text()).to.match(/^: keep-alive\n\n/m);
    const own = await narrow.post('/v1/messages', { model, max_tokens: 100, messages, stream: true });
    const pings = (await own.text()).split('event: ping\n').length - 1;
    expect(pings).to.be.greaterThan(0);
  });
});
