import { expect } from 'chai';
import { allExtras, extrasOf, withAllExtras, withExtras, type MessagesRequest } from '@gw2api/gateway/plugin';
import { extraLosses } from '@gw2api/gateway/plugin/upstream';

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

  describe('and those of its blocks', () => {
    const text = { type: 'text', text: 'x' } as const;
    const named = withExtras(text, { name: 'ann' });
    const whole: MessagesRequest = withExtras(
      { model: 'm', system: [text, named], messages: [{ role: 'user', content: [text, named] }] },
      { seed: 7 },
    );

    it('are listed with their places, and come back there from JSON', () => {
      const listed = allExtras(whole);
      expect(listed.map(({ place }) => place)).to.deep.equal(['', 'system[1]', 'messages[0].content[1]']);
      const read = JSON.parse(JSON.stringify(whole)) as MessagesRequest;
      expect(allExtras(withAllExtras(read, listed))).to.deep.equal(listed);
      expect(withAllExtras(read, [])).to.equal(read);
    });

    it('are losses at a kind without extras, except the key of a session, which has served its end here', () => {
      const request = withExtras(whole, { seed: 7, prompt_cache_key: 'k', safety_identifier: 's' });
      expect(extraLosses({ request })).to.deep.equal([
        { path: 'extras.seed', kind: 'setting' },
        { path: 'extras.safety_identifier', kind: 'mend' },
        { path: 'system[1].extras.name', kind: 'setting' },
        { path: 'messages[0].content[1].extras.name', kind: 'setting' },
      ]);
      expect(extraLosses({ request, isTranslated: false })).to.deep.equal([]);
    });

    it('are looked for in what nobody has checked', () => {
      const odd = { messages: [null, { content: [null, 'x'] }], system: 7 } as unknown as MessagesRequest;
      expect(allExtras(odd)).to.deep.equal([]);
    });
  });
});
