import { stageForm } from '#src/plugin/contract/define.js';
import { expect } from 'chai';
import { Type } from 'typebox';
import { definePlugin } from '@gw2api/gateway/plugin';
import { runStage } from '@gw2api/gateway/testing';

declare module '@gw2api/gateway/plugin' {
  interface GatewayState {
    /** A key of this test's own. */
    mood: 'good' | 'bad';
  }
}

describe('definePlugin', () => {
  it('makes what a stage did not declare a compile error', () => {
    definePlugin({
      name: 'typed',
      requires: ['request'],
      provides: ['mood'],
      setup() {
        return async function typed(ctx, next) {
          const { model } = ctx.state.request;
          ctx.state.mood = model === '' ? 'bad' : 'good';
          // @ts-expect-error what is required but not provided can be read, not replaced
          ctx.state.request = { model, messages: [] };
          // @ts-expect-error what is not required cannot be read
          void ctx.state.reply;
          // @ts-expect-error what is not provided cannot be set
          ctx.state.response = true;
          // @ts-expect-error a key has its type
          ctx.state.mood = 'fair';
          // @ts-expect-error a slip is no property of the context
          void ctx.sttae;
          void ctx.state.signal.aborted;
          await next();
        };
      },
    });
    definePlugin({
      name: 'mistyped',
      // @ts-expect-error there is no such key
      requires: ['requst'],
      setup: () => async (_, next) => next(),
    });
  });

  it('gives options the types of their schema', () => {
    definePlugin({
      name: 'options',
      options: Type.Object({ max: Type.Integer({ default: 3 }) }),
      setup({ max }) {
        const number: number = max;
        // @ts-expect-error it is a number
        const text: string = max;
        void [number, text];
        return async (_, next) => next();
      },
    });
  });

  it('lets a plugin add a key to the state by declaration merging', async () => {
    const plugin = definePlugin({
      name: 'mood',
      provides: ['mood'],
      setup: () =>
        async function mood(ctx, next) {
          ctx.state.mood = 'good';
          await next();
        },
    });
    const { state } = await runStage(plugin, {});
    expect(state.mood).to.equal('good');
  });

  it('provides "interceptors" once where it intercepts, however often it is read', () => {
    const plugin = definePlugin({
      name: 'wraps',
      provides: ['request'],
      intercepts: true,
      setup: () => ({ intercept: (request, call) => call(request) }),
    });
    expect(plugin.provides).to.deep.equal(['request', 'interceptors']);
    expect(stageForm.normalize(plugin).provides).to.deep.equal(['request', 'interceptors']);
  });

  it('closes every object of the options, but for those that say otherwise', () => {
    const { options } = definePlugin({
      name: 'closed',
      options: Type.Object({
        inner: Type.Object({ a: Type.String() }),
        open: Type.Object({ b: Type.String() }, { additionalProperties: true }),
      }),
      setup: () => async (_, next) => next(),
    });
    expect(options).to.nested.include({
      additionalProperties: false,
      'properties.inner.additionalProperties': false,
      'properties.open.additionalProperties': true,
    });
  });
});
