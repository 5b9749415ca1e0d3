import { once } from 'node:events';
import { request as sendRequest } from 'node:http';
import { expect } from 'chai';
import { Type } from 'typebox';
import { definePlugin, GatewayError, type GatewayState, type Plugin } from '#src/plugin/index.js';
import { stageForm } from '#src/plugin/contract/define.js';
import { fakeHost, runStage, serveStage } from '@gw2api/gateway/testing';

describe('runStage', () => {
  it('gives what the stage made of the state, and what it sent', async () => {
    const stage = definePlugin({
      name: 'stage',
      requires: ['request'],
      provides: ['request'],
      setup: () => async (ctx, next) => {
        ctx.state.request = { ...ctx.state.request, max_tokens: 5 };
        ctx.set('x-stage', ctx.get('x-asked'));
        await next();
        ctx.status = 201;
        ctx.body = { asked: ctx.path };
      },
    });
    const result = await runStage(stage, {
      state: { request: { model: 'm', messages: [] } },
      path: '/v1/chat/completions?a=1',
      headers: { 'x-asked': 'yes' },
    });
    expect(result.state.request.max_tokens).to.equal(5);
    expect(result.headers['x-stage']).to.equal('yes');
    expect(result).to.deep.include({ status: 201, body: { asked: '/v1/chat/completions' } });
    expect(result).to.include({ nextCalled: true, outcome: 'completed', error: undefined });
  });

  it('fills in the defaults of the options and refuses what the schema refuses', async () => {
    const seen: unknown[] = [];
    const stage = definePlugin({
      name: 'stage',
      options: Type.Object({ size: Type.Integer({ default: 3 }) }),
      setup: (options) => {
        seen.push(options);
        return (_, next) => next();
      },
    });
    await runStage(stage);
    expect(seen).to.deep.equal([{ size: 3 }]);
    const problem: unknown = await runStage(stage, { options: { size: 'big' } }).catch(
      (error: unknown) => error,
    );
    expect(problem)
      .to.be.instanceOf(TypeError)
      .with.property('message')
      .that.includes('size must be a whole number');
  });

  it('answers with a GatewayError and throws anything else', async () => {
    const error = new GatewayError('forbidden', 'No.', { headers: { 'x-why': 'so' } });
    const answer = await runStage(throwing(error));
    expect(answer).to.include({ status: 403, error, nextCalled: false });
    expect(answer.headers['x-why']).to.equal('so');
    expect(answer.body).to.deep.equal(error.toJSON());
    const bug = new TypeError('bug');
    expect(await runStage(throwing(bug)).catch((thrown: unknown) => thrown)).to.equal(bug);
  });

  it('runs what stands for the stages below', async () => {
    const { body } = await runStage(passing, { below: (ctx) => void (ctx.body = 'below') });
    expect(body).to.equal('below');
  });

  it('tells the listeners how it ended, once, before the test hears of it', async () => {
    const heard: string[] = [];
    const stage = definePlugin({
      name: 'stage',
      setup: () => async (ctx, next) => {
        ctx.state.onSettled((outcome) => void heard.push(outcome));
        await next();
      },
    });
    const { state } = await runStage(stage);
    expect(heard).to.deep.equal(['completed']);
    expect(state.signal.aborted).to.equal(true);
    await runStage(stage, {
      below: (ctx) => (ctx.state as GatewayState).trace.fail(new GatewayError('internal', 'Broke.')),
    });
    expect(heard).to.deep.equal(['completed', 'failed']);
  });

  it('disposes what a plugin has opened, last first', async () => {
    const closed: number[] = [];
    const host = fakeHost();
    for (const nth of [1, 2]) host.onDispose(() => void closed.push(nth));
    await host.dispose();
    await host.dispose();
    expect(closed).to.deep.equal([2, 1]);
  });
});

describe('serveStage', () => {
  it('says that a caller has left', async () => {
    const server = await serveStage(passing, {
      below: (ctx) => once(ctx.state['signal'] as AbortSignal, 'abort').then(() => undefined),
    });
    const sent = sendRequest(server.origin).on('error', () => undefined);
    sent.end();
    await once(sent, 'socket');
    sent.socket!.once('connect', () => setImmediate(() => sent.destroy()));
    const { outcome, nextCalled } = await server.served;
    expect({ outcome, nextCalled }).to.deep.equal({ outcome: 'abandoned', nextCalled: true });
    await server.close();
  });
});

const passing = definePlugin({ name: 'passing', setup: () => (_, next) => next() });

function throwing(thrown: Error): Plugin {
  return stageForm.normalize({ name: 'stage', setup: () => () => Promise.reject(thrown) });
}
