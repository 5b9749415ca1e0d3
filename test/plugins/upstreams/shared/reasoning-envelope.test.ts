import { expect } from 'chai';
import type { Message, MessagesRequest } from '#src/plugin/index.js';
import { openReasoning, sealReasoning, withoutSealed } from '#plugins/upstreams/shared/reasoning-envelope.js';

const envelope = { vendor: 'openrouter', data: [{ type: 'reasoning.text', text: 'Hm \u{1f914}' }] };
const sealed = { type: 'thinking', thinking: 'Hm', signature: sealReasoning(envelope) } as const;
const signed = { type: 'thinking', thinking: 'Hm', signature: 'EqQBCkYIBxgC' } as const;
const text = { type: 'text', text: 'Hello' } as const;

describe('the envelope of thinking without a signature', () => {
  it('is opened to what it holds', () => {
    expect(openReasoning(sealReasoning(envelope))).to.deep.equal(envelope);
  });

  it('is not taken from a vendor\u2019s signature, nor from an envelope that is cut', () => {
    expect(openReasoning(signed.signature)).to.equal(undefined);
    expect(openReasoning('')).to.equal(undefined);
    expect(openReasoning(sealed.signature.slice(0, -9))).to.equal(undefined);
    expect(openReasoning(`${sealReasoning({ vendor: 'a' }).split('.')[0]}.bnVsbA`)).to.equal(undefined);
  });

  it('reaches no upstream that signs its own thinking', () => {
    const messages: readonly Message[] = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [sealed, text] },
      { role: 'assistant', content: [sealed] },
      { role: 'assistant', content: [signed, text] },
    ];
    const { messages: kept } = withoutSealed({ model: 'm', messages });
    expect(kept).to.deep.equal([
      messages[0],
      { role: 'assistant', content: [text] },
      {
        role: 'assistant',
        content: [{ type: 'text', text: '[thinking left out: only the model that wrote it can read it]' }],
      },
      messages[3],
    ]);
  });

  it('takes a budget of thinking along within a tool loop, where the upstream would demand the thinking', () => {
    const use = { type: 'tool_use', id: 'c', name: 'look', input: {} } as const;
    const answer = { type: 'tool_result', tool_use_id: 'c', content: 'one' } as const;
    const loop = (type: 'enabled' | 'adaptive', thought: typeof sealed | typeof signed) =>
      withoutSealed({
        model: 'm',
        thinking: { type, budget_tokens: 2000 },
        messages: [
          { role: 'assistant', content: [thought, use] },
          { role: 'user', content: [answer] },
          { role: 'system', content: '10 tokens left' },
        ],
      });
    expect(loop('enabled', sealed)).not.to.have.property('thinking');
    expect(loop('adaptive', sealed)).to.have.property('thinking');
    expect(loop('enabled', signed)).to.have.property('thinking');
  });

  it('is taken out among messages of any shape, which the upstream refuses itself', () => {
    const odd = [null, 1, 'a', {}, { role: 'assistant' }, { role: 'assistant', content: null }, []];
    const given = [
      ...odd,
      { role: 'assistant', content: [null, sealed, 1] },
      { role: 'user', content: { 0: null } },
    ];
    const { messages } = withoutSealed({ model: 'm', messages: given as never });
    expect(messages).to.deep.equal([...odd, { role: 'assistant', content: [null, 1] }, given.at(-1)]);
  });

  it('costs a request without one no copy', () => {
    const request: MessagesRequest = {
      model: 'm',
      messages: [{ role: 'assistant', content: [signed, text] }],
    };
    expect(withoutSealed(request)).to.equal(request);
  });
});
