import { expect } from 'chai';
import * as fc from 'fast-check';
import { itemId, responseIdOf } from '#plugins/formats/responses/item.js';
import { openReasoning, sealReasoning } from '#plugins/formats/shared/reasoning.js';

describe('sealed reasoning', () => {
  it('opens as exactly the block that was sealed', () => {
    const text = fc.string({ unit: 'binary' });
    const thinking = fc.record({ type: fc.constant('thinking' as const), thinking: text, signature: text });
    const redacted = fc.record({ type: fc.constant('redacted_thinking' as const), data: text });
    fc.assert(
      fc.property(fc.oneof(thinking, redacted), (block) => {
        expect(openReasoning(sealReasoning(block))).to.deep.equal(block);
      }),
    );
  });

  it('is one line of characters that no transport changes', () => {
    const sealed = sealReasoning({ type: 'thinking', thinking: 'ü\n\ud800 "', signature: 's' });
    expect(sealed).to.match(/^[\w.-]+$/);
  });

  it('opens to nothing where another vendor sealed it, or it was cut', () => {
    const sealed = sealReasoning({ type: 'thinking', thinking: 'a', signature: 's' });
    for (const foreign of ['', 'gAAAAABo', 'gw1.', sealed.slice(0, -6), 'gw1.e30', 'gw1.bnVsbA'])
      expect(openReasoning(foreign)).to.equal(undefined);
  });
});

describe('an item id', () => {
  it('names the response that it belongs to', () => {
    expect(itemId('msg', 'resp_4f2a', 3)).to.equal('msg_4f2a_3');
    expect(responseIdOf('msg_4f2a_3')).to.equal('resp_4f2a');
    expect(responseIdOf('msg_68cdba6652ac')).to.equal(undefined);
  });
});
