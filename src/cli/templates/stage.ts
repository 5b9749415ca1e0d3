import type { Template } from './template.js';

/** A stage that limits `max_tokens`. */
export const stage: Template = {
  plugin: `
import { definePlugin, Type, withFields } from '@gw2api/gateway/plugin';

/** Lowers max_tokens to a limit. */
export default definePlugin({
  name: '__NAME__',
  api: 1,
  requires: ['request'],
  provides: ['request'],
  options: Type.Object({
    limit: Type.Integer({ minimum: 1, default: 4096, description: 'Max tokens of an answer.' }),
  }),
  setup({ limit }) {
    return async function __FUNCTION__(ctx, next) {
      const { request } = ctx.state;
      ctx.state.request = withFields(request, { max_tokens: Math.min(request.max_tokens ?? limit, limit) });
      await next();
    };
  },
});
`,
  test: `
import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { runStage, stageChecks } from '@gw2api/gateway/testing';
import plugin from '__MODULE__';

describe('__NAME__', () => {
  it('lowers max_tokens', async () => {
    const request = { model: 'test-model', max_tokens: 5000, messages: [{ role: 'user'« as const», content: 'Hi' }] };
    const { state, nextCalled } = await runStage(plugin, { options: { limit: 100 }, state: { request } });
    assert.equal(state.request.max_tokens, 100);
    assert.equal(nextCalled, true);
  });

  for (const { name, run } of stageChecks({ plugin })) it(name, run);
});
`,
};
