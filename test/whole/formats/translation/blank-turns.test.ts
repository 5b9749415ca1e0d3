import { expect } from 'chai';
import { startGateway, slotAt } from '../../harness.js';
import { RecordingUpstream } from '../prefix-law/recording-upstream.js';

const pipeline = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];

describe('a blank turn of a Chat caller', () => {
  let upstream: RecordingUpstream;
  before(async () => void (upstream = await RecordingUpstream.open()));
  after(() => upstream.close());

  /** Messages or items that a kind is sent, the status, and what is reported. */
  async function sent(kind: string, messages: readonly object[]) {
    const slot = slotAt(upstream.urlOf(kind), { upstream: kind });
    const gateway = await startGateway({ pipeline: pipeline.map((use) => ({ use })), slots: [slot] });
    const response = await gateway.post('/v1/chat/completions', { model: 'sonnet-5', messages });
    const text = await response.text();
    await gateway.close();
    const { messages: list, input } = upstream.take(kind) ?? {};
    return {
      status: response.status,
      text,
      list: list ?? input,
      dropped: response.headers.get('x-gw-dropped'),
    };
  }

  const blank = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: '' },
    { role: 'user', content: 'b' },
  ];

  it('goes as it came to servers of OpenAI’s formats', async () => {
    const chat = await sent('chat', blank);
    expect([chat.list, chat.dropped]).to.deep.equal([blank, null]);
    const { list, dropped } = await sent('responses', blank);
    const content = [{ type: 'output_text', text: '' }];
    expect([(list as readonly object[])[1], dropped]).to.deep.equal([
      { type: 'message', role: 'assistant', content },
      null,
    ]);
  });

  it('is the whole conversation, where it is alone', async () => {
    const alone = [{ role: 'user', content: '' }];
    expect(await sent('chat', alone)).to.deep.include({ status: 200, list: alone });
    const refused = await sent('messages', alone);
    expect([refused.status, refused.list]).to.deep.equal([400, undefined]);
    expect(refused.text).to.include('messages[0]');
  });

  it('is in words for a Messages upstream, which is reported by the caller’s path', async () => {
    const { list, dropped } = await sent('messages', blank);
    expect((list as readonly object[])[1]).to.deep.equal({
      role: 'assistant',
      content: [{ type: 'text', text: '[empty message]' }],
    });
    expect(dropped).to.equal('messages[1]');
  });
});
