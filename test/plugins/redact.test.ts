import { expect } from 'chai';
import {
  allExtras,
  foldMessage,
  withExtras,
  type ContentBlock,
  type MessagesRequest,
  type MessagesStreamEvent,
  type ModelCall,
} from '@gw2api/gateway/plugin';
import { eventsOf, messageEvents, replyOf, runStage } from '@gw2api/gateway/testing';
import type { Interceptor } from '#src/plugin/contract/state.js';
import redact from '#plugins/redact.js';

const mail = 'jo@example.com';
const other = 'al@example.com';

function request(content: string | readonly ContentBlock[]): MessagesRequest {
  return { model: 'm', max_tokens: 1, messages: [{ role: 'user', content }] };
}

/** Runs the stage and the call that it wraps; gives the request that goes upstream, and the answer. */
async function through(
  asked: MessagesRequest,
  answer: readonly MessagesStreamEvent[] = messageEvents(),
  options: Readonly<Record<string, unknown>> = {},
) {
  let sent: MessagesRequest | undefined;
  const call: ModelCall = async (outgoing) => {
    sent = outgoing;
    return replyOf(eventsOf(...answer));
  };
  const { state } = await runStage(redact, { options, state: { request: asked }, call });
  return { sent: sent!, message: await foldMessage(state.reply.events) };
}

describe('redact', () => {
  it('replaces values by placeholders, the same value by the same one', async () => {
    const { sent } = await through(request(`${mail}, ${other} and ${mail}`));
    expect(sent.messages[0]!.content).to.equal('[EMAIL_1], [EMAIL_2] and [EMAIL_1]');
  });

  it('replaces them wherever there is text, and leaves what is signed', async () => {
    const thinking = { type: 'thinking', thinking: mail, signature: 's' } as const;
    const image = { type: 'image', source: { type: 'url', url: `http://x/${mail}` } } as const;
    const { sent } = await through({
      model: 'm',
      system: mail,
      messages: [
        { role: 'user', content: [{ type: 'text', text: mail }, image] },
        {
          role: 'assistant',
          content: [
            thinking,
            { type: 'tool_use', id: mail, name: 'n', input: { type: 'image', to: [mail] } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: mail, content: [{ type: 'text', text: mail }] },
            { type: 'document', title: mail, source: { type: 'text', media_type: 'text/plain', data: mail } },
          ],
        },
      ],
    });
    expect(sent.system).to.equal(mail);
    expect(sent.messages).to.deep.equal([
      { role: 'user', content: [{ type: 'text', text: '[EMAIL_1]' }, image] },
      {
        role: 'assistant',
        content: [
          thinking,
          { type: 'tool_use', id: mail, name: 'n', input: { type: 'image', to: ['[EMAIL_1]'] } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: mail, content: [{ type: 'text', text: '[EMAIL_1]' }] },
          {
            type: 'document',
            title: '[EMAIL_1]',
            source: { type: 'text', media_type: 'text/plain', data: '[EMAIL_1]' },
          },
        ],
      },
    ]);
  });

  it('replaces them in extras, of the request and of changed blocks, which keep theirs', async () => {
    const prediction = { type: 'content', content: [{ type: 'text', text: `Mail ${mail}.` }] };
    const block = withExtras({ type: 'text', text: mail } as const, { name: other });
    const { sent } = await through(withExtras(request([block]), { prediction, seed: 7 }));
    expect(allExtras(sent)).to.deep.equal([
      {
        place: '',
        extras: {
          prediction: { type: 'content', content: [{ type: 'text', text: 'Mail [EMAIL_1].' }] },
          seed: 7,
        },
      },
      { place: 'messages[0].content[0]', extras: { name: '[EMAIL_2]' } },
    ]);
  });

  it('replaces them in the system prompt where asked', async () => {
    const asked = { ...request('Hi'), system: [{ type: 'text', text: mail }] as const };
    const within = { ...asked, messages: [...asked.messages, { role: 'system', content: mail } as const] };
    const { sent } = await through(within, messageEvents(), { system: true });
    expect(sent.system).to.deep.equal([{ type: 'text', text: '[EMAIL_1]' }]);
    expect(sent.messages.at(-1)).to.have.property('content', '[EMAIL_1]');
    expect((await through(within)).sent).to.equal(within);
  });

  it('numbers values in the order of the prompt, so that the system prompt is the same in every turn', async () => {
    const first = { ...request('Hi'), system: [{ type: 'text', text: mail }] as const };
    const messages = [...first.messages, { role: 'user', content: `I am ${other}` } as const];
    for (const asked of [first, { ...first, messages }]) {
      const { sent } = await through(asked, messageEvents(), { system: true });
      expect(sent.system).to.deep.equal([{ type: 'text', text: '[EMAIL_1]' }]);
    }
  });

  it('sends on the very request in which there is nothing to replace', async () => {
    const asked = request([{ type: 'text', text: 'Hi' }]);
    expect((await through(asked)).sent).to.equal(asked);
    const odd = { model: 'm', messages: 7 } as unknown as MessagesRequest;
    expect((await through(odd)).sent).to.equal(odd);
  });

  it('puts the values back into the text of the answer', async () => {
    const { message } = await through(
      request(`${mail} ${other}`),
      messageEvents({ text: 'To [EMAIL_2], [EMAIL_3].' }),
    );
    expect(message.content).to.deep.equal([{ type: 'text', text: `To ${other}, [EMAIL_3].` }]);
  });

  it('puts them back into the input of tools, as JSON, and not into thinking', async () => {
    const pattern = { name: 'quoted', pattern: '"[a-z]*"' };
    const content = [
      { type: 'thinking', thinking: 'Mail [QUOTED_1].', signature: 's' },
      { type: 'tool_use', id: 't', name: 'n', input: { to: 'a [QUOTED_1]' } },
    ] as const;
    const { message } = await through(request('Say "hi"!'), messageEvents({ content }), {
      patterns: [pattern],
    });
    expect(message.content).to.deep.equal([content[0], { ...content[1], input: { to: 'a "hi"' } }]);
  });

  it('takes placeholders of the caller for values', async () => {
    const asked = request(`[EMAIL_1] is not ${mail}`);
    const { sent, message } = await through(asked, messageEvents({ text: '[TEXT_1] [EMAIL_1]' }));
    expect(sent.messages[0]!.content).to.equal('[TEXT_1] is not [EMAIL_1]');
    expect(message.content).to.deep.equal([{ type: 'text', text: `[EMAIL_1] ${mail}` }]);
  });

  it('keeps a bounded number of values, and replaces the others for good', async () => {
    const { sent } = await through(request(`${mail} ${other}`), messageEvents(), { maxValues: 1 });
    expect(sent.messages[0]!.content).to.equal('[EMAIL_1] [EMAIL]');
  });

  it('puts nothing back with restore: false', async () => {
    const text = '[EMAIL] [EMAIL_1]';
    const { sent, message } = await through(request(mail), messageEvents({ text }), { restore: false });
    expect(sent.messages[0]!.content).to.equal('[EMAIL]');
    expect(message.content).to.deep.equal([{ type: 'text', text }]);
  });

  it('replaces values in what is only counted', async () => {
    const { state } = await runStage(redact, {
      state: { request: request(mail), operation: 'count-tokens' },
    });
    expect(state.request.messages[0]!.content).to.equal('[EMAIL_1]');
  });

  it('replaces them for the stages below, and once more in what stages above call with', async () => {
    let below: MessagesRequest | undefined;
    let sent: MessagesRequest | undefined;
    const continued: Interceptor = {
      place: { stage: 'continued', path: 'pipeline[0]', at: 'gateway.yaml:1:1' },
      intercept: (asked, call) =>
        call({ ...asked, messages: [...asked.messages, { role: 'assistant', content: `${mail} ${other}` }] }),
    };
    await runStage(redact, {
      state: { request: request(`[EMAIL_1] ${mail}`), interceptors: [continued] },
      call: async (outgoing) => {
        sent = outgoing;
        return replyOf(eventsOf(...messageEvents()));
      },
      below: ({ state }) => void (below = (state as { request: MessagesRequest }).request),
    });
    expect(below!.messages[0]!.content).to.equal('[TEXT_1] [EMAIL_1]');
    expect(sent!.messages.map(({ content }) => content)).to.deep.equal([
      '[TEXT_1] [EMAIL_1]',
      '[EMAIL_1] [EMAIL_2]',
    ]);
  });
});
