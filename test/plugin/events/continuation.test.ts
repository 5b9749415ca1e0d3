import { expect } from 'chai';
import {
  continuePausedTurns,
  foldMessage,
  GatewayError,
  type ContentBlock,
  type MessagesRequest,
  type MessagesStreamEvent,
  type ModelCall,
  type ModelReply,
  type StopReason,
} from '@gw2api/gateway/plugin';
import {
  collectEvents,
  eventsOf,
  messageEvents,
  replyOf,
  type MessageOptions,
} from '@gw2api/gateway/testing';

describe('continuePausedTurns', () => {
  const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } } as const;
  const found = { type: 'web_search_tool_result', tool_use_id: 's1', content: [] } as const;

  it('leaves a turn that does not pause as it is', async () => {
    const { reply, requests } = await ask(4, { text: 'Done.' });
    expect(await collectEvents(reply.events)).to.deep.equal(messageEvents({ text: 'Done.' }));
    expect(requests).to.have.length(1);
  });

  it('joins the answers into one with a valid order of events', async () => {
    const { reply } = await ask(4, paused([text('Let me look.'), search]), {
      content: [found, text('It is so.')],
    });
    const events = await collectEvents(reply.events);
    const kinds = events.map((event) =>
      'index' in event ? `${event.type} ${String(event.index)}` : event.type,
    );
    expect(kinds.filter((kind) => kind.startsWith('message'))).to.deep.equal([
      'message_start',
      'message_delta',
      'message_stop',
    ]);
    expect(kinds.filter((kind) => kind.startsWith('content_block_start'))).to.deep.equal(
      [0, 1, 2, 3].map((index) => `content_block_start ${index}`),
    );
    const message = await foldMessage(eventsOf(events));
    expect(message.content).to.deep.equal([text('Let me look.'), search, found, text('It is so.')]);
    expect(message.stop_reason).to.equal('end_turn');
  });

  it('asks again with what has been said so far, empty texts left out', async () => {
    const { reply, requests } = await ask(4, paused([text(''), search]), paused([found]), { text: 'Done.' });
    await collectEvents(reply.events);
    expect(requests.map(({ messages }) => messages)).to.deep.equal([
      [question],
      [question, { role: 'assistant', content: [search] }],
      [question, { role: 'assistant', content: [search, found] }],
    ]);
  });

  it('adds usage up over the calls', async () => {
    const { reply } = await ask(
      4,
      paused([search], {
        usage: { input_tokens: 10, output_tokens: 1 },
        finalUsage: { output_tokens: 5, server_tool_use: { web_search_requests: 1 } },
      }),
      {
        text: 'Done.',
        usage: { input_tokens: 30, cache_read_input_tokens: 7, output_tokens: 1 },
        finalUsage: { output_tokens: 20, server_tool_use: { web_search_requests: 2 } },
      },
    );
    const { usage } = await foldMessage(reply.events);
    expect(usage).to.deep.equal({
      input_tokens: 40,
      cache_read_input_tokens: 7,
      output_tokens: 25,
      server_tool_use: { web_search_requests: 3 },
    });
  });

  it('stops at its limit and shows that the turn has paused', async () => {
    const { reply, requests } = await ask(1, paused([search]), paused([found]), { text: 'Never asked.' });
    const message = await foldMessage(reply.events);
    expect(message.stop_reason).to.equal('pause_turn');
    expect(message.content).to.deep.equal([search, found]);
    expect(requests).to.have.length(2);
  });

  it('joins answers that stand whole in their start', async () => {
    const { reply, requests } = await ask(
      4,
      whole([text('Let me look.'), search], 'pause_turn', 3),
      whole([found, text('It is ')], 'pause_turn', 4),
      whole([text('so.')], 'end_turn', 5),
    );
    const events = await collectEvents(reply.events);
    expect(events.filter(({ type }) => type === 'message_start')).to.have.length(1);
    const message = await foldMessage(eventsOf(events));
    expect(message.content).to.deep.equal([text('Let me look.'), search, found, text('It is '), text('so.')]);
    expect(message).to.include({ stop_reason: 'end_turn' });
    expect(message.usage).to.deep.equal({ input_tokens: 12, output_tokens: 3 });
    expect(requests[1]!.messages[1]!.content).to.deep.equal([text('Let me look.'), search]);
  });

  it('asks once more with the same messages where a paused turn says nothing', async () => {
    const { reply, requests } = await ask(4, paused([text('')]), { text: 'Done.' });
    expect((await foldMessage(reply.events)).stop_reason).to.equal('end_turn');
    expect(requests[1]!.messages).to.deep.equal([question]);
  });

  it('passes on what came before an error of the upstream', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } } as const;
    const events = messageEvents({ text: 'So far.' }).slice(0, 3);
    const { reply } = await ask(4, [...events, error]);
    expect(await collectEvents(reply.events)).to.deep.equal([...events, error]);
  });

  it('breaks the stream where a further call fails', async () => {
    const failure = new GatewayError('upstream_timeout', 'Too slow.');
    const { reply } = await ask(4, paused([search]), failure);
    expect(await collectEvents(reply.events).catch((error: unknown) => error)).to.equal(failure);
  });
});

const question = { role: 'user', content: 'Is it so?' } as const;

function text(words: string): ContentBlock {
  return { type: 'text', text: words };
}

function paused(content: readonly ContentBlock[], more: MessageOptions = {}): MessageOptions {
  return { content, stopReason: 'pause_turn', ...more };
}

/** Events of an answer of which all stands in its start. */
function whole(
  content: readonly ContentBlock[],
  reason: StopReason,
  input_tokens: number,
): readonly MessagesStreamEvent[] {
  const start = messageEvents({})[0]!;
  if (start.type !== 'message_start') throw new Error('A message begins with message_start.');
  const usage = { input_tokens, output_tokens: 1 };
  const message = { ...start.message, content, stop_reason: reason, usage };
  return [{ ...start, message }, { type: 'message_stop' }];
}

function isList(answer: unknown): answer is readonly MessagesStreamEvent[] {
  return Array.isArray(answer);
}

/** Asks a model that gives the answers in turn. */
async function ask(
  limit: number,
  ...answers: readonly (MessageOptions | readonly MessagesStreamEvent[] | Error)[]
) {
  const requests: MessagesRequest[] = [];
  const call: ModelCall = async (request) => {
    const answer = answers[requests.push(request) - 1];
    if (answer instanceof Error) throw answer;
    return replyOf(eventsOf([...(isList(answer) ? answer : messageEvents(answer))]));
  };
  const reply: ModelReply = await continuePausedTurns(limit)({ model: 'm', messages: [question] }, call);
  return { reply, requests };
}
