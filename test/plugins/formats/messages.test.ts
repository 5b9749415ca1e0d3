import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream';
import { expect } from 'chai';
import messages from '#plugins/formats/messages/index.js';
import { ModelEvent } from '@gw2api/gateway/plugin';
import { end, made, messageStart, text } from './events.js';
import { fixture, fixtureNames, modelEvents, replyOf, sentEvents, streamed, whole } from './streams.js';

const body = { model: 'asked', messages: [] };

describe('messages replies', () => {
  it('are the upstream’s bytes but for the model’s name', async function () {
    if (fixtureNames().length === 0) this.skip();
    for (const name of fixtureNames().filter((name) => !name.startsWith('anomaly'))) {
      const events = fixture(name);
      const { text } = await streamed(messages, body, replyOf(events));
      const [first, ...rest] = sentEvents(text);
      expect(JSON.parse(first!.data)).to.have.nested.property('message.model', 'asked');
      expect(rest).to.deep.equal(events.slice(1).map(({ type, data }) => ({ event: type, data })));
    }
  });

  it('are not parsed on their way', async () => {
    const novelty = new ModelEvent('content_block_delta', '{ not even JSON');
    const { text } = await streamed(
      messages,
      body,
      replyOf([...made(messageStart()), novelty, ...end('end_turn')]),
    );
    expect(text).to.contain('event: content_block_delta\ndata: { not even JSON\n\n');
  });

  it('keep data of several lines in one event', async () => {
    const events = modelEvents('event: ping\ndata: {"type":\ndata: "ping"}\n\n');
    const { text } = await streamed(messages, body, replyOf([...events, ...made({ type: 'message_stop' })]));
    expect(sentEvents(text)[0]).to.deep.equal({ event: 'ping', data: '{"type":\n"ping"}' });
  });

  it('pass on only the first of several starts', async function () {
    if (fixtureNames().length === 0) this.skip();
    const { text } = await streamed(messages, body, replyOf(fixture('anomaly-duplicate-message-start')));
    expect(text.match(/event: message_start/g)).to.have.length(1);
  });

  it('show the first answer only', async () => {
    const other = text('two').map((event) => event.withChoice(1));
    const events = [...made(messageStart()), ...other, ...text('one'), ...end('end_turn')];
    expect((await streamed(messages, body, replyOf(events))).text).to.not.contain('two');
    expect(await whole(messages, body, replyOf(events))).to.have.nested.property('content[0].text', 'one');
  });

  it('end a broken stream with the upstream’s own error event', async function () {
    if (fixtureNames().length === 0) this.skip();
    const events = fixture('constructed-overloaded-mid-stream');
    const { text, error } = await streamed(messages, body, replyOf(events));
    expect(text.endsWith(`event: error\ndata: ${events.at(-1)!.data}\n\n`)).to.equal(true);
    expect(text.match(/event: error/g)).to.have.length(1);
    expect(error).to.include({ code: 'overloaded_error', status: 529, message: 'Overloaded' });
  });

  it('end a stream that just stops with an error event that says so', async () => {
    const { text } = await streamed(messages, body, replyOf(made(messageStart())));
    expect(JSON.parse(sentEvents(text).at(-1)!.data)).to.deep.equal({
      type: 'error',
      error: {
        type: 'upstream_error',
        message: 'The upstream ended its answer before it was complete.',
      },
    });
  });

  it('are kept alive by pings', async () => {
    // The context is not read.
    const { keepAlive } = await messages.encoder(body, {} as never);
    expect(sentEvents(keepAlive ?? '')).to.deep.equal([{ event: 'ping', data: '{"type":"ping"}' }]);
  });

  it('are read by the vendor’s stream helper, to the same message as the whole answer', async function () {
    if (fixtureNames().length === 0) this.skip();
    for (const name of ['text-then-two-tools', 'thinking-many-deltas', 'web-search-thinking-citations']) {
      const { text } = await streamed(messages, body, replyOf(fixture(name)));
      const lines = new Blob(sentEvents(text).map(({ data }) => `${data.replaceAll('\n', '')}\n`)).stream();
      const final = await MessageStream.fromReadableStream(lines).finalMessage();
      const reply = await whole(messages, body, replyOf(fixture(name)));
      expect(JSON.parse(JSON.stringify(final.content))).to.deep.equal(
        JSON.parse(JSON.stringify(reply['content'])),
      );
      expect([final.model, final.stop_reason]).to.deep.equal([reply['model'], reply['stop_reason']]);
    }
  });
});
