import { expect } from 'chai';
import { extrasOf, withExtras, type MessagesRequest } from 'gw2api/plugin';

const request: MessagesRequest = { model: 'm', messages: [] };

describe('the extras of a request', () => {
  it('go with its copies, are in no JSON, and are not in a request built anew', () => {
    const given = withExtras(request, { seed: 7 });
    expect(extrasOf({ ...given, model: 'n' })).to.deep.equal({ seed: 7 });
    expect(JSON.stringify(given)).to.equal(JSON.stringify(request));
    expect(extrasOf({ model: given.model, messages: given.messages })).to.deep.equal({});
  });

  it('leave the request that they were added to as it was', () => {
    withExtras(request, { seed: 7 });
    expect(extrasOf(request)).to.deep.equal({});
    expect(extrasOf(withExtras(withExtras(request, { seed: 7 }), {}))).to.deep.equal({});
  });
});
