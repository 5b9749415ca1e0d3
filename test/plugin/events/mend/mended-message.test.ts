import { expect } from 'chai';
import { mendedMessage } from '@gw2api/gateway/plugin/upstream';

describe('a message that lacks what clients need', () => {
  const content = [{ type: 'text', text: 'Hi' }];

  it('has the defaults where its fields are null', () => {
    const nulls = { role: null, model: null, id: null, usage: null, stop_reason: null, stop_sequence: null };
    const message = mendedMessage({ type: 'message', ...nulls, content }, 40);
    expect(message).to.deep.include({
      type: 'message',
      role: 'assistant',
      model: '',
      content,
      stop_reason: null,
      stop_sequence: null,
    });
    expect(message?.id).to.match(/^msg_\w{32}$/);
    expect(message?.usage).to.include({ input_tokens: 10, estimated: true });
  });

  it('keeps the fields that it has, nulls that the API allows included', () => {
    const given = {
      type: 'message',
      role: 'assistant',
      model: 'm',
      id: 'msg_1',
      content,
      stop_reason: 'max_tokens',
      stop_sequence: null,
      container: null,
      usage: { input_tokens: 10, output_tokens: 1 },
    };
    expect(mendedMessage(given, 40)).to.deep.equal(given);
  });
});
