import { expect } from 'chai';
import { errorFromEvent } from '#src/plugin/format/index.js';
import type { MessagesStreamEvent } from '#src/plugin/index.js';

const event = (error: unknown): MessagesStreamEvent => ({ type: 'error', error }) as MessagesStreamEvent; // as it comes

describe('errorFromEvent', () => {
  it('has the status that the error would have had in place of the stream', () => {
    const statuses = { overloaded_error: 529, rate_limit_error: 429, api_error: 500, novelty_error: 502 };
    for (const [type, status] of Object.entries(statuses)) {
      const error = errorFromEvent(event({ type, message: 'No.' }));
      expect(error).to.include({ type, code: type, status, message: 'No.' });
      expect(error.failure).to.deep.equal({ kind: 'status', status, headers: {} });
    }
  });

  it('keeps the upstream’s code and details', () => {
    const error = errorFromEvent(event({ type: 'api_error', code: 'c1', message: 'No.', details: { a: 1 } }));
    expect(error.toJSON()).to.deep.equal({
      error: { type: 'api_error', code: 'c1', message: 'No.', details: { a: 1 } },
    });
  });

  it('takes details that are null for none', () => {
    expect(errorFromEvent(event({ type: 'api_error', message: 'No.', details: null })).details).to.equal(
      undefined,
    );
  });

  it('says something whatever came', () => {
    for (const error of [undefined, null, 7, {}, { type: 7, message: null }])
      expect(errorFromEvent(event(error)))
        .to.include({ type: 'api_error', status: 500 })
        .with.property('message').not.empty;
    expect(errorFromEvent(event('Oops')).message).to.equal('Oops');
  });
});
