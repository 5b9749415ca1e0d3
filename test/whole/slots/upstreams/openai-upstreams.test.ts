import { expect } from 'chai';
import type OpenAI from 'openai';
import { ask, masterKey, startGateway, startPair, type GatewayUnderTest, type Pair } from '../../harness.js';
import { lastRequest, modelCalls, openaiAt } from '../../clients/sdk-clients.js';

const weather: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

/** Slots over a gateway that serves the format, which the simulator is behind. */
const kinds = {
  chat: { upstream: 'chat', with: { preset: 'openrouter' } },
  responses: { upstream: 'responses' },
} as const;

for (const [kind, slot] of Object.entries(kinds))
  describe(`a slot of the kind ${kind} over another gateway`, () => {
    let inner: Pair;
    let outer: GatewayUnderTest;
    let openai: OpenAI;
    before(async () => {
      inner = await startPair();
      outer = await startGateway({ slots: [slotOver(inner, slot)] });
      openai = openaiAt(outer);
    });
    after(async () => {
      await outer.close();
      await inner.close();
    });

    it('gives a Chat client text, its end and the usage', async () => {
      const stream = await openai.chat.completions.create({
        model: 'sonnet-5',
        messages: [{ role: 'user', content: 'Say hello.' }],
        stream: true,
        stream_options: { include_usage: true },
      });
      let text = '';
      let last: OpenAI.ChatCompletionChunk | undefined;
      let finish: string | null = null;
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? '';
        finish = chunk.choices[0]?.finish_reason ?? finish;
        last = chunk;
      }
      expect(text).not.to.equal('');
      expect(finish).to.equal('stop');
      expect(last?.usage?.completion_tokens).to.be.above(0);
      expect(last?.usage?.prompt_tokens).to.be.above(0);
    });

    it('goes through a loop of tools with signed thinking, which comes back to its vendor as it was', async () => {
      const messages: OpenAI.ChatCompletionMessageParam[] = [
        { role: 'user', content: 'How warm is it? [[sim:thinking]] [[sim:tool]]' },
      ];
      const request = { model: 'sonnet-5', tools: [weather], reasoning_effort: 'high' as const };
      const first = await openai.chat.completions.create({ ...request, messages });
      const message = first.choices[0]!.message;
      expect(first.choices[0]!.finish_reason).to.equal('tool_calls');
      expect(message).to.have.property('reasoning_content').that.is.not.empty;
      const [call] = message.tool_calls ?? [];
      messages.push(message, { role: 'tool', tool_call_id: call!.id, content: '21 degrees' });
      // The simulator refuses thinking whose signature is not its own.
      const second = await openai.chat.completions.create({ ...request, messages });
      expect(second.choices[0]!.finish_reason).to.equal('stop');
      const turn = lastRequest(inner).messages.find(({ role }) => role === 'assistant');
      expect(typesOf(turn?.content)).to.deep.equal(['thinking', 'tool_use']);
    });

    it('gives a Messages client thinking that it can send back', async () => {
      const text = 'Think. [[sim:thinking]]';
      const response = await outer.post('/v1/messages', ask(text, { thinking: { type: 'adaptive' } }));
      const { content } = (await response.json()) as { content: readonly { type: string }[] };
      expect(content.map(({ type }) => type)).to.deep.equal(['thinking', 'text']);
      const messages = [
        { role: 'user', content: text },
        { role: 'assistant', content },
        { role: 'user', content: 'Go on.' },
      ];
      const next = await outer.post('/v1/messages', { model: 'sonnet-5', max_tokens: 1000, messages });
      expect(next.status).to.equal(200);
      const turn = lastRequest(inner).messages.find(({ role }) => role === 'assistant');
      expect(typesOf(turn?.content)[0]).to.equal('thinking');
    });

    it('names what it cannot pass on before the stream begins, and no tool that the gateway has added', async () => {
      const fields = { stream: true, container: 'c_1' };
      const response = await outer.post('/v1/messages', ask('Hi', fields));
      expect(response.headers.get('x-gw-dropped')).to.equal('container');
      expect(await response.text()).to.include('message_stop');
    });

    it('answers a failure of the upstream with its status and message', async () => {
      const response = await outer.post('/v1/messages', ask('[[sim:400]]'));
      expect(response.status).to.equal(400);
    });

    it('refuses what it cannot pass on before any call, if told so', async () => {
      const strict = { ...slot, with: { ...('with' in slot ? slot.with : {}), unsupported: 'reject' } };
      const gateway = await startGateway({ slots: [slotOver(inner, strict)] });
      try {
        const calls = modelCalls(inner).length;
        const response = await gateway.post('/v1/messages', ask('Hi', { container: 'c_1' }));
        expect(response.status).to.equal(400);
        expect(await response.text()).to.include('container: cannot be expressed upstream.');
        expect(modelCalls(inner)).to.have.length(calls);
        expect((await gateway.post('/v1/messages', ask('Hi'))).status).to.equal(200);
      } finally {
        await gateway.close();
      }
    });
  });

function slotOver({ url }: GatewayUnderTest, slot: object): object {
  return { id: 'a', baseUrl: `${url}/v1`, account: { kind: 'api-key', key: masterKey }, ...slot };
}

function typesOf(content: unknown): readonly string[] {
  return (content as readonly { readonly type: string }[]).map(({ type }) => type);
}
