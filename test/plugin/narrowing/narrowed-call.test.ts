import { expect } from 'chai';
import { withExtras, type MessagesRequest } from '@gw2api/gateway/plugin';
import { narrowedForMessages, refusedThinking } from '@gw2api/gateway/plugin/upstream';
import { callOf, narrowed } from './narrowed.js';

const hello: MessagesRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

describe('narrowedForMessages', () => {
  it('leaves a request as it is that came as Messages', () => {
    const call = { ...callOf({ ...hello, temperature: 2, stop_sequences: [' '] }), isTranslated: false };
    expect(narrowedForMessages(call)).to.equal(call);
  });

  it('returns the call itself where nothing is to be narrowed', () => {
    const call = callOf({ ...hello, temperature: 0.5, stop_sequences: ['x'] });
    expect(narrowedForMessages(call)).to.equal(call);
  });

  it('offers the tools that are allowed, and those of the gateway', () => {
    const tools = ['f', 'g', 'web_search'].map((name) => ({ name }));
    const allow = (name: string): MessagesRequest =>
      withExtras({ ...hello, tools, tool_choice: { type: 'any' } }, { 'tool_choice.allowed_tools': [name] });
    const { request, losses } = narrowed(allow('g'));
    expect([request.tools, losses]).to.deep.equal([[{ name: 'g' }], []]);
    const own = narrowedForMessages({ ...callOf(allow('g')), addedTools: [tools[2]!] });
    expect(own.request.tools).to.deep.equal([{ name: 'g' }, { name: 'web_search' }]);
    const none = narrowed(allow('gone')).request;
    expect(none).to.deep.include({ tools, tool_choice: { type: 'none' } });
  });

  it('leaves out what only other receivers know of a block, and gives calls valid ids', () => {
    const call = { type: 'tool_use', id: 'functions.f:0', name: 'f', input: {} } as const;
    const image = { type: 'image', source: { type: 'url', url: 'u' } } as const;
    const { request, losses } = narrowed({
      ...hello,
      messages: [
        ...hello.messages,
        { role: 'assistant', content: [{ type: 'text', text: 'a', phase: 'commentary' }, call] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: call.id, content: [{ ...image, detail: 'low' }] },
            { ...image, detail: 'auto' },
          ],
        },
      ],
    });
    const [, calls, results] = request.messages;
    expect(calls!.content)
      .to.have.nested.property('[1].id')
      .that.matches(/^functions_f_0_\w{8}$/);
    expect(results!.content).to.deep.equal([
      {
        type: 'tool_result',
        tool_use_id: (calls!.content[1] as { id: string }).id,
        content: [image],
      },
      image,
    ]);
    expect(losses).to.deep.equal([
      'messages[1].content[0].phase',
      'messages[2].content[0].content[0].detail',
    ]);
  });

  it('plans thinking by what the upstream has refused before', () => {
    const request: MessagesRequest = {
      ...hello,
      max_tokens: 8000,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'xhigh' },
    };
    const sent = (...without: readonly string[]) => {
      const { thinking, output_config } = narrowed(request, {}, new Set(without)).request;
      return [thinking, output_config];
    };
    expect(sent()).to.deep.equal([{ type: 'adaptive' }, { effort: 'xhigh' }]);
    expect(sent('thinking=budget')).to.deep.equal([{ type: 'enabled', budget_tokens: 6000 }, undefined]);
    expect(sent('thinking=none')).to.deep.equal([undefined, undefined]);
    expect(sent('efforts=low,medium,high')).to.deep.equal([{ type: 'adaptive' }, { effort: 'high' }]);
  });
});

describe('refusedThinking', () => {
  const call = callOf({ ...hello, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } });

  it('finds the kind of thinking that is taken instead, and whether the model is to blame', () => {
    const ofModel = refusedThinking('thinking: adaptive thinking is not supported on this model', call);
    expect(ofModel).to.deep.equal({ without: 'thinking=budget', isOfModel: true });
    expect(refusedThinking('adaptive is not supported beside a prefill', call)).to.deep.equal({
      without: 'thinking=budget',
      isOfModel: false,
    });
  });

  it('finds none for other words, for a request without thinking, and for one that came as Messages', () => {
    expect(refusedThinking('messages: must not be empty', call)).to.equal(undefined);
    expect(refusedThinking('adaptive thinking is not supported', callOf(hello))).to.equal(undefined);
    expect(refusedThinking('adaptive thinking is not supported', { ...call, isTranslated: false })).to.equal(
      undefined,
    );
  });
});
