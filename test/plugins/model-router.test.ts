import { expect } from 'chai';
import { extrasOf, withExtras, type MessagesRequest } from '@gw2api/gateway/plugin';
import { fakeHost, fakeModels, runStage } from '@gw2api/gateway/testing';
import modelRouter from '#plugins/model-router.js';

const host = fakeHost({ models: fakeModels({ id: 'sonnet-5', aliases: ['best'] }, { id: 'haiku-5' }) });

/** The model that a request goes to. */
async function routed(
  routes: readonly object[],
  request: Partial<MessagesRequest> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const whole: MessagesRequest = {
    model: 'sonnet-5',
    messages: [{ role: 'user', content: 'Hi' }],
    ...request,
  };
  const options = { host, headers, options: { routes }, state: { request: whole } };
  const { state, nextCalled } = await runStage(modelRouter, options);
  expect(nextCalled).to.equal(true);
  expect({ ...state.request, model: whole.model }).to.deep.equal(whole);
  return state.request.model;
}

describe('model-router', () => {
  it('leaves a request that no route matches as it is', async () => {
    expect(await routed([{ to: 'x', model: ['haiku-*'] }])).to.equal('sonnet-5');
  });

  it('goes by the first route that matches', async () => {
    const routes = [{ to: 'a', model: ['haiku-*'] }, { to: 'b' }, { to: 'c' }];
    expect(await routed(routes)).to.equal('b');
    expect(await routed(routes, { model: 'haiku-5' })).to.equal('a');
  });

  it('goes by the catalog id of the asked model, whatever its name', async () => {
    const routes = [{ to: 'haiku-5', model: ['sonnet-*'] }];
    for (const model of ['sonnet-5', 'best', 'sonnet-9'])
      expect(await routed(routes, { model }), model).to.equal('haiku-5');
    expect(await routed(routes, { model: 'gpt' })).to.equal('gpt');
  });

  it('goes by headers, of which each must be there', async () => {
    const routes = [{ to: 'haiku-5', header: { 'X-Tier': ['low', 'free-*'], 'x-team': ['*'] } }];
    expect(await routed(routes, {}, { 'x-tier': 'free-2', 'x-team': 'a' })).to.equal('haiku-5');
    expect(await routed(routes, {}, { 'x-tier': 'high', 'x-team': 'a' })).to.equal('sonnet-5');
    expect(await routed(routes, {}, { 'x-tier': 'low' })).to.equal('sonnet-5');
  });

  it('goes by the size of the prompt, tools and system included', async () => {
    const routes = [
      { to: 'small', maxTokens: 100 },
      { to: 'large', minTokens: 1000 },
    ];
    const long = 'word '.repeat(1000);
    expect(await routed(routes)).to.equal('small');
    expect(await routed(routes, { system: 'word '.repeat(200) })).to.equal('sonnet-5');
    expect(await routed(routes, { system: long })).to.equal('large');
    expect(await routed(routes, { tools: [{ name: 't', description: long, input_schema: {} }] })).to.equal(
      'large',
    );
    expect(await routed(routes, { messages: [{ role: 'user', content: long }] })).to.equal('large');
  });

  it('goes by a pattern in the last message alone', async () => {
    const routes = [{ to: 'haiku-5', pattern: '(?i)\\btranslate\\b' }];
    const said = (...texts: readonly string[]) => ({
      messages: texts.map((text) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })),
    });
    expect(await routed(routes, said('Hi', 'Translate this.'))).to.equal('haiku-5');
    expect(await routed(routes, said('Translate this.', 'Thanks'))).to.equal('sonnet-5');
    const { messages } = said('Translate this.');
    const late = { role: 'system', content: '9 tokens left' } as const;
    expect(await routed(routes, { messages: [...messages, late] })).to.equal('haiku-5');
    expect(await routed(routes, { messages: [] })).to.equal('sonnet-5');
    expect(await routed([{ to: 'haiku-5', pattern: '^(a+)+$' }], said(`${'a'.repeat(50_000)}b`))).to.equal(
      'sonnet-5',
    );
  });

  it('wants all conditions of a route to hold', async () => {
    const routes = [{ to: 'haiku-5', model: ['sonnet-*'], pattern: 'Hi', maxTokens: 50 }];
    expect(await routed(routes)).to.equal('haiku-5');
    expect(await routed(routes, { messages: [{ role: 'user', content: 'Ho' }] })).to.equal('sonnet-5');
  });

  it('names a pattern that is none', async () => {
    const problem: unknown = await routed([{ to: 'a' }, { to: 'b', pattern: '(' }]).catch(
      (error: unknown) => error,
    );
    expect(String(problem)).to.match(/routes\[1\]\.pattern: .*\(the syntax is that of RE2\)/);
  });

  it('drops logit_bias with the model whose tokens it names, and keeps other extras', async () => {
    const whole = { model: 'sonnet-5', messages: [{ role: 'user', content: 'Hi' }] } as const;
    const request: MessagesRequest = withExtras(whole, { logit_bias: { 42: 7 }, seed: 1 });
    const { state, headers } = await runStage(modelRouter, {
      host,
      options: { routes: [{ to: 'haiku-5' }] },
      state: { request },
    });
    expect(extrasOf(state.request)).to.deep.equal({ seed: 1 });
    expect(headers['x-gw-dropped']).to.equal('logit_bias');
  });
});
