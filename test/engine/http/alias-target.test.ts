import { expect } from 'chai';
import { knownAliases } from '#src/config/path-aliases.js';
import { aliasTargets } from '#src/engine/http/aliases.js';

describe('the path that an alias stands for', () => {
  const modelPaths = ['/v1/chat/completions', '/v1/completions'];
  const all = aliasTargets(knownAliases, modelPaths);

  for (const [path, target] of [
    ['/anthropic/v1/messages', '/v1/messages'],
    ['/anthropic/messages', '/messages'],
    ['/api/anthropic/v1/messages', '/v1/messages'],
    ['/openai/v1/chat/completions', '/v1/chat/completions'],
    ['/openai/responses', '/responses'],
    ['/api/v1/chat/completions', '/v1/chat/completions'],
    ['/api/v1/v1/messages', '/v1/messages'],
    ['/v1/v1/v1/messages', '/v1/messages'],
    ['//v1///messages', '/v1/messages'],
    ['/anthropic//v1/v1/messages', '/v1/messages'],
    ['/anthropic', '/'],
    ['/healthz', '/health'],
    ['/health/liveliness', '/health'],
  ] as const)
    it(`is ${target} for ${path}`, () => expect(all(path)).to.deep.equal({ path: target }));

  for (const path of ['/readyz', '/health/readiness', '//readyz'])
    it(`asks for readiness at ${path}`, () =>
      expect(all(path)).to.deep.equal({ path: '/health', query: 'ready=1' }));

  for (const [path, name, target] of [
    ['/openai/deployments/gpt-5/chat/completions', 'gpt-5', '/v1/chat/completions'],
    ['/openai/deployments/gpt-5/chat/completions/', 'gpt-5', '/v1/chat/completions'],
    ['/openai/deployments/gpt-5/completions', 'gpt-5', '/v1/completions'],
    ['/openai/deployments/meta%2Fllama/chat/completions', 'meta/llama', '/v1/chat/completions'],
    ['/openai/deployments/meta/llama/chat/completions', 'meta/llama', '/v1/chat/completions'],
    ['//openai/v1/deployments/gpt-5/chat/completions', 'gpt-5', '/v1/chat/completions'],
  ] as const)
    it(`names the model ${name} for ${path}`, () =>
      expect(all(path)).to.deep.equal({ path: target, model: name }));

  for (const path of ['/v1/messages', '/anthropics/v1/messages', '/v1/v1', '/v1', '/health/live', '/'])
    it(`is none for ${path}`, () => expect(all(path)).to.equal(undefined));

  it('needs an alias that is switched on', () => {
    const none = aliasTargets([], modelPaths);
    for (const path of ['/anthropic/v1/messages', '/v1/v1/messages', '//v1/messages', '/healthz'])
      expect(none(path), path).to.equal(undefined);
    const own = aliasTargets(['/team/llm', '/healthz'], modelPaths);
    expect(own('/team/llm/v1/messages')).to.deep.equal({ path: '/v1/messages' });
    expect(own('/readyz')).to.equal(undefined);
  });

  it('is found in linear time', () => {
    const long = `/anthropic${'/v1'.repeat(100_000)}/messages`;
    expect(all(long)).to.deep.equal({ path: '/v1/messages' });
    expect(all('/'.repeat(300_000))).to.deep.equal({ path: '/' });
  });
});
