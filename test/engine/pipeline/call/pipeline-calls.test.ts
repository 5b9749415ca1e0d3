import { expect } from 'chai';
import type { CallSupport, Caller, GatewayState, Host, ModelReply } from '@gw2api/gateway/plugin';
import {
  eventsOf,
  fakeHost,
  fakeModels,
  fakeSlots,
  ManualClock,
  messageEvents,
  replyOf,
} from '@gw2api/gateway/testing';
import type { StageConfig } from '#src/config/config.js';
import { OpenCalls, type EndedStageCall } from '#src/engine/pipeline/call/open-calls.js';
import { PipelineCalls, type ListedStage } from '#src/engine/pipeline/call/pipeline-calls.js';
import { RequestTrace } from '#src/engine/trace/request-trace.js';

const caller: Caller = { kind: 'key', keyId: 'k1', name: 'ann' };
const request = { model: 'test-model', messages: [{ role: 'user' as const, content: 'Hi' }] };

/** Entry of a pipeline, as far as calls read it. */
const entry = (fields: Partial<StageConfig> = {}) => fields as StageConfig;

describe('the calls of a pipeline', () => {
  const clock = new ManualClock(0);
  let openCalls: OpenCalls;
  let ended: EndedStageCall[];
  let inside: number;
  let isRetired: boolean;
  let takesRequests: boolean;
  beforeEach(() => {
    [ended, inside, isRetired, takesRequests] = [[], 0, false, true];
    openCalls = new OpenCalls();
  });

  /** `host.call` over these stages of the default pipeline. */
  function calling(stages: readonly (ListedStage & { readonly support?: CallSupport })[]): Host['call'] {
    openCalls.recordWith({ record: (call) => ended.push(call), takesRequests: () => takesRequests });
    const calls = new PipelineCalls({
      log: fakeHost().log,
      clock,
      models: fakeModels({ id: 'test-model', aliases: ['alias'], maxTokens: 500 }),
      slots: fakeSlots(),
      openCalls,
      callerOf: async () => caller,
    });
    for (const { config, support } of stages) if (support) calls.support(config, support);
    calls.open({
      lists: new Map([['default', stages]]),
      policy: () => () => undefined,
      enter: () => void (inside += 1),
      leave: () => void (inside -= 1),
      isRetired: () => isRetired,
    });
    return calls.callOf('mine');
  }

  const supporting = (support: CallSupport, fields: Partial<StageConfig> = {}) => ({
    config: entry(fields),
    takes: undefined,
    support,
  });
  const answer = async (): Promise<ModelReply> => replyOf(eventsOf(messageEvents()));
  const answering = supporting({ model: () => answer });
  /** A call of the model that ends with its signal alone. */
  const hanging = supporting({
    model:
      ({ state }) =>
      () =>
        new Promise((_, reject) => {
          state.signal.addEventListener('abort', () => reject(new Error('The upstream call has been cut.')));
        }),
  });
  const ctx = (fields: Partial<GatewayState> = {}) => ({
    path: '/v1/messages',
    headers: {},
    state: {
      caller,
      format: 'messages',
      operation: 'generate' as const,
      requestId: 'r1',
      trace: new RequestTrace(() => 1000),
      ...fields,
    },
  });
  const failureOf = async (call: Promise<unknown>) =>
    call.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('name the model by its catalog id, and limit its answer as the catalog says', async () => {
    const asked: object[] = [];
    const call = calling([
      supporting({
        model: () => async (sent) => {
          asked.push(sent);
          return answer();
        },
      }),
    ]);
    await call({ ...request, model: 'alias' }, { billTo: 'k1', label: 'a' });
    await call({ ...request, max_tokens: 7 }, { billTo: 'k1', label: 'a' });
    expect(asked).to.deep.equal([
      { ...request, max_tokens: 500 },
      { ...request, max_tokens: 7 },
    ]);
  });

  it('resolve with a complete answer, of which nobody has to read anything', async () => {
    const call = calling([answering]);
    const { events } = await call(request, { billTo: 'k1', label: 'a' });
    expect(ended.map(({ outcome }) => outcome)).to.deep.equal(['completed']);
    expect([openCalls.count, inside]).to.deep.equal([0, 0]);
    let seen = 0;
    for await (const batch of events) seen += batch.length;
    expect(seen).to.equal(messageEvents().length);
  });

  it('name the row of a request as their parent, and none of a request that has no row', async () => {
    const call = calling([answering]);
    const request1 = ctx();
    await call(request, { ctx: request1, label: 'a' });
    await call(request, { ctx: ctx({ operation: 'count-tokens' }), label: 'a' });
    const [first, second] = ended.map(({ call: { origin } }) => origin.parent);
    expect(first).to.equal(`1000.${(request1.state.trace as RequestTrace).rowId}`);
    expect(second).to.equal(undefined);
  });

  it('end after an hour at the latest', async () => {
    const call = calling([hanging]);
    const failure = failureOf(call(request, { billTo: 'k1', label: 'a' }));
    await new Promise(setImmediate);
    expect(clock.nextMs).to.equal(clock.now() + 3_600_000);
    clock.fireNext();
    expect(await failure).to.include({ code: 'upstream_timeout' });
    expect(ended[0]).to.include({ outcome: 'failed' });
  });

  it('end by the signal of their stage, also one that has aborted before', async () => {
    const call = calling([hanging]);
    const controller = new AbortController();
    const options = { billTo: 'k1', label: 'a', signal: controller.signal };
    const failure = failureOf(call(request, options));
    await new Promise(setImmediate);
    controller.abort(new Error('enough'));
    expect(await failure).to.have.property('message', 'enough');
    expect(await failureOf(call(request, options))).to.have.property('message', 'enough');
    expect(ended.map(({ outcome }) => outcome)).to.deep.equal(['abandoned', 'abandoned']);
  });

  it('are 64 at once by billTo, and no more', async () => {
    const call = calling([hanging]);
    const failures = Array.from({ length: 64 }, () => failureOf(call(request, { billTo: 'k1', label: 'a' })));
    const failure = await failureOf(call(request, { billTo: 'k1', label: 'a' }));
    expect(failure).to.be.instanceOf(RangeError);
    openCalls.abortAll(new Error('over') as never);
    expect(await Promise.all(failures)).to.have.length(64);
    expect([openCalls.count, inside]).to.deep.equal([0, 0]);
  });

  it('are admitted by all stages that take them, and picked and made by the first that can', async () => {
    const did: string[] = [];
    const stage = (name: string, fields: Partial<StageConfig> = {}, takes?: ListedStage['takes']) => ({
      ...supporting(
        {
          admit: () => void did.push(`admit ${name}`),
          model: () => async () => {
            did.push(`model ${name}`);
            return answer();
          },
        },
        fields,
      ),
      takes,
    });
    const group = {};
    const call = calling([
      stage('other', {}, () => false),
      stage('one', { group } as never),
      stage('alternative', { group } as never),
      stage('two', {}, ({ state }) => (state as { delivery?: string }).delivery === 'whole'),
    ]);
    await call(request, { billTo: 'k1', label: 'a' });
    expect(did).to.deep.equal(['admit one', 'admit two', 'model one']);
  });

  it('are refused by an admission, before a slot is picked', async () => {
    const call = calling([supporting({ admit: () => Promise.reject(new RangeError('no')) }), hanging]);
    expect(await failureOf(call(request, { billTo: 'k1', label: 'a' }))).to.have.property('message', 'no');
    expect(ended[0]!.error).to.include({ code: 'internal' });
  });

  it('are refused where the pipeline has been replaced or the gateway closes, unless they are of a request', async () => {
    const call = calling([answering]);
    const codes = async () => {
      const failures = [
        await failureOf(call(request, { billTo: 'k1', label: 'a' })),
        await failureOf(call(request, { ctx: ctx(), label: 'a' })),
      ];
      return failures.map((failure) => (failure as { code?: string } | undefined)?.code);
    };
    isRetired = true;
    expect(await codes()).to.deep.equal(['shutting_down', undefined]);
    [isRetired, takesRequests] = [false, false];
    expect(await codes()).to.deep.equal(['shutting_down', undefined]);
    openCalls.close();
    expect(await codes()).to.deep.equal(['shutting_down', 'shutting_down']);
  });

  it('of a request need its caller, and a pipeline that there is', async () => {
    const call = calling([answering]);
    const anonymous = ctx();
    const { caller: _, ...state } = anonymous.state;
    const failure = await failureOf(call(request, { ctx: { ...anonymous, state } as never, label: 'a' }));
    expect(failure)
      .to.be.instanceOf(TypeError)
      .with.property('message')
      .that.includes('list the stage below auth');
    const gone = ctx();
    (gone.state.trace as RequestTrace).choose('gone');
    expect(await failureOf(call(request, { ctx: gone, label: 'a' }))).to.include({ code: 'forbidden' });
  });

  it('know their parts by name alone', () => {
    const wrong = { admits: () => undefined } as never;
    expect(() => calling([supporting(wrong)])).to.throw(TypeError, 'unknown part "admits"');
  });
});
