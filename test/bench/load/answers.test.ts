import { expect } from 'chai';
import { textsIn } from './answers.js';

const event = (data: object | string) =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const chatDelta = (content: string) => event({ choices: [{ delta: { content } }] });
const textDelta = (text: string) =>
  event({ type: 'content_block_delta', delta: { type: 'text_delta', text } });

describe('the texts of an answer', () => {
  it('are those of its deltas, in order', () => {
    const stream = textDelta('a') + textDelta('b') + event({ type: 'message_stop' });
    expect(textsIn('messages', true, stream)).to.deep.equal(['a', 'b']);
    expect(textsIn('chat', true, chatDelta('a') + chatDelta('b') + event('[DONE]'))).to.deep.equal([
      'a',
      'b',
    ]);
  });

  it('are one of a whole answer', () => {
    const whole = JSON.stringify({ choices: [{ message: { content: 'all of it' } }] });
    expect(textsIn('chat', false, whole)).to.deep.equal(['all of it']);
  });

  it('are not to be had of a stream without an end', () => {
    expect(() => textsIn('messages', true, textDelta('a'))).to.throw('no end');
    expect(() => textsIn('chat', true, chatDelta('a'))).to.throw('no end');
    expect(() => textsIn('responses', true, event({ type: 'response.failed' }))).to.throw('no end');
  });
});
