import { expect } from 'chai';
import { sealReasoning } from '#plugins/upstreams/shared/reasoning-envelope.js';
import { predictBody } from '#plugins/upstreams/vertex/wire.js';

describe('the body of a request to Vertex AI', () => {
  it('has no thinking that another kind of upstream has sealed for itself', () => {
    const thinking = {
      type: 'thinking',
      thinking: 'Hm.',
      signature: sealReasoning({ vendor: 'deepseek' }),
    } as const;
    const text = { type: 'text', text: 'Hello' } as const;
    const messages = [{ role: 'assistant', content: [thinking, text] } as const];
    expect(predictBody({ model: 'm', messages }, {})).to.deep.equal({
      messages: [{ role: 'assistant', content: [text] }],
      anthropic_version: 'vertex-2023-10-16',
    });
  });
});
