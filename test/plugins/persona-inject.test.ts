import { expect } from 'chai';
import { withSystemBlock, type MessagesRequest, type Plugin } from '@gw2api/gateway/plugin';
import { fakeHost, runStage } from '@gw2api/gateway/testing';
import personaInject from '#plugins/persona-inject.js';

describe('persona-inject', () => {
  const request: MessagesRequest = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
  const persona = { type: 'text', text: 'Be kind.' } as const;
  const run = (options: object, sent: MessagesRequest = request) =>
    runStage(personaInject, { options: { text: 'Be kind.', ...options }, state: { request: sent } });

  it('is the first system block, and is recorded as an addition', async () => {
    const { state } = await run({});
    expect(state.request.system).to.deep.equal([persona]);
    expect(state.additions.system).to.deep.equal([persona]);
  });

  it('is one object for all requests, which nobody can change', async () => {
    const setUp = await personaInject.setup({ text: 'Be kind.', cache: false }, fakeHost());
    const stage: Plugin = { ...personaInject, setup: () => setUp };
    const first = await runStage(stage, { state: { request } });
    const second = await runStage(stage, { state: { request } });
    const [added] = first.state.additions.system;
    expect(second.state.additions.system[0]).to.equal(added).and.to.be.frozen;
  });

  it('comes before whatever the caller sent, which stays as it is', async () => {
    const billing = { type: 'text', text: 'x-billing: cli' } as const;
    const own = { type: 'text', text: 'Own.', cache_control: { type: 'ephemeral' } } as const;
    const { state } = await run({}, { ...request, system: [billing, own] });
    expect(state.request.system).to.deep.equal([persona, billing, own]);
    expect(state.request.messages).to.equal(request.messages);
  });

  it('comes behind the attribution block of Claude Code, which stays first and as it is', async () => {
    const billing = {
      type: 'text',
      text: 'x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli;',
    } as const;
    const own = { type: 'text', text: 'Own.', cache_control: { type: 'ephemeral' } } as const;
    const { state } = await run({}, { ...request, system: [billing, own] });
    expect(state.request.system).to.deep.equal([billing, persona, own]);
    expect(state.request.system?.[0]).to.equal(billing);
    expect((await run({}, { ...request, system: [own, billing] })).state.request.system).to.deep.equal([
      persona,
      own,
      billing,
    ]);
    expect((await run({}, { ...request, system: billing.text })).state.request.system).to.deep.equal([
      billing,
      persona,
    ]);
  });

  it('makes a block of a system prompt that is a string, none of an empty one', () => {
    expect(withSystemBlock({ ...request, system: 'Own.' }, persona).system).to.deep.equal([
      persona,
      { type: 'text', text: 'Own.' },
    ]);
    expect(withSystemBlock({ ...request, system: '' }, persona).system).to.deep.equal([persona]);
  });

  it('leaves what is no system prompt for the upstream to judge', () => {
    for (const [system, expected] of [
      [null, []],
      [5, [5]],
      [{ a: 1 }, [{ a: 1 }]],
    ] as const) {
      const odd = { ...request, system } as unknown as MessagesRequest;
      expect(withSystemBlock(odd, persona).system).to.deep.equal([persona, ...expected]);
    }
  });

  it('has a marker of its own with cache: true', async () => {
    const { state } = await run({ cache: true });
    expect(state.request.system).to.deep.equal([{ ...persona, cache_control: { type: 'ephemeral' } }]);
  });

  it('goes without where the caller has used all four, wherever they stand', async () => {
    const cache_control = { type: 'ephemeral' } as const;
    const sent: MessagesRequest = {
      ...request,
      cache_control,
      tools: [{ name: 't', input_schema: {}, cache_control }],
      system: [{ type: 'text', text: 'Own.', cache_control }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'x', cache_control }] },
          ],
        },
      ],
    };
    expect((await run({ cache: true }, sent)).state.request.system?.[0]).to.deep.equal(persona);
    const { tools: _, ...three } = sent;
    expect((await run({ cache: true }, three)).state.request.system?.[0]).to.have.property('cache_control');
  });

  it('adds nothing where its text is empty', async () => {
    const { state, nextCalled } = await run({ text: '' });
    expect(state.request).to.equal(request);
    expect(state.additions.system).to.deep.equal([]);
    expect(nextCalled).to.equal(true);
  });
});
