import { expect } from 'chai';
import { guardedText, outcomeOf, spokenText } from './remote-outcome.js';

const delta = (text: string) => ({ type: 'content_block_delta', delta: { type: 'text_delta', text } });
const stop = { type: 'message_stop' };
const error = { type: 'error', error: {} };
const sse = (...events: readonly { readonly type: string }[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

describe('the outcome of a stream behind a remote stage', () => {
  it('is whole with the guarded text and its end', () => {
    expect(outcomeOf(200, sse(delta(guardedText), stop))).to.equal('whole');
  });

  it('is refused for a 502 of the stage', () => {
    expect(outcomeOf(502, '{"error":{"code":"stage_failed"}}')).to.equal('refused');
    expect(outcomeOf(502, '{"error":{"code":"upstream_error"}}')).to.equal('broken');
  });

  it('is ended for a part of the text and one error event', () => {
    expect(outcomeOf(200, sse(delta('Thank you. '), error))).to.equal('ended');
    expect(outcomeOf(200, sse(delta('Thank you. '), error, error))).to.equal('broken');
    expect(outcomeOf(200, sse(delta('Thank you. ')))).to.equal('broken');
  });

  it('is unguarded for any other text, however it ends', () => {
    expect(outcomeOf(200, sse(delta(spokenText), stop))).to.equal('unguarded');
    expect(outcomeOf(200, sse(delta('Thank you, jane'), error))).to.equal('unguarded');
  });
});
