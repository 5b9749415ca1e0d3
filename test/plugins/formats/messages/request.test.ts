import { expect } from 'chai';
import { isGatewayError } from '@gw2api/gateway/plugin';
import { decodeMessages } from '#plugins/formats/messages/index.js';
import { frozen, recordedRequests } from '../contexts.js';

describe('a Messages request', () => {
  it('stays the very object that came in', () => {
    const body = frozen({ model: 'm', messages: [], thread: { type: 'create' }, stream: true });
    const { request, ...rest } = decodeMessages(body);
    expect(request).to.equal(body);
    expect(rest).to.deep.equal({ stream: true, dropped: [] });
  });

  it('has no limit where it is -1', () => {
    const { request } = decodeMessages({ model: 'm', messages: [], max_tokens: -1, top_k: -1, top_p: 1 });
    expect(request).to.deep.equal({ model: 'm', messages: [], top_p: 1 });
  });

  it('is streamed only where it says so', () => {
    expect(decodeMessages({ model: 'm', messages: [] }).stream).to.equal(false);
    expect(decodeMessages({ model: 'm', messages: [], stream: 'yes' }).stream).to.equal(false);
  });

  for (const [body, message] of [
    [undefined, 'body: must be an object, not undefined'],
    ['text', 'body: must be an object, not a string'],
    [[], 'body: must be an object, not an array'],
    [{ messages: [] }, 'model: is required'],
    [{ model: '', messages: [] }, 'model: must not be empty'],
    [{ model: 'm' }, 'messages: is required'],
    [{ model: 'm', messages: {} }, 'messages: must be an array, not an object'],
  ] as const) {
    it(`is refused as ${JSON.stringify(body)}: "${message}"`, () => {
      try {
        decodeMessages(body);
        expect.fail('It was accepted.');
      } catch (error) {
        if (!isGatewayError(error)) throw error;
        expect(error).to.include({ code: 'invalid_request', status: 400, message });
      }
    });
  }

  it('as recorded from real clients passes untouched', function () {
    const bodies = recordedRequests('messages-requests');
    if (!bodies) return this.skip();
    for (const body of bodies.values()) expect(decodeMessages(body).request).to.equal(body);
  });
});
