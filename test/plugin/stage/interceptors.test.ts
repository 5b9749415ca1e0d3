import { expect } from 'chai';
import { pluginPlace } from '#src/engine/trace/plugin-place.js';
import { RequestTrace } from '#src/engine/trace/request-trace.js';
import type { GatewayState, ModelReply } from '#src/plugin/index.js';
import type { Interceptor } from '#src/plugin/contract/state.js';
import { ModelEvent, wrapCall, type Intercept, type ModelCall, type Transform } from '@gw2api/gateway/plugin';
import { collectEvents, eventsOf, messageEvents, replyOf } from '@gw2api/gateway/testing';

describe('the interceptors of a request', () => {
  it('wrap the call, the first one outermost', async () => {
    const trail: string[] = [];
    const note =
      (name: string): Intercept =>
      async (request, call) => {
        trail.push(name);
        const reply = await call({ ...request, max_tokens: (request.max_tokens ?? 0) + 1 });
        trail.push(`${name} again`);
        return reply;
      };
    const { asked } = await wrapped({ outer: note('outer'), inner: note('inner') });
    expect(trail).to.deep.equal(['outer', 'inner', 'inner again', 'outer again']);
    expect(asked.map(({ max_tokens }) => max_tokens)).to.deep.equal([2]);
  });

  it('leave the call itself where there are none, or none that applies', () => {
    const call: ModelCall = async () => replyOf();
    const none: Interceptor = {
      place,
      intercept: (request, call) => call(request),
      applies: () => false,
    };
    for (const interceptors of [[], [none]]) expect(wrapCall(context(interceptors), call)).to.equal(call);
  });

  const broken: Readonly<Record<string, readonly [unknown, string]>> = {
    'no reply': [
      undefined,
      'intercept returned undefined instead of a reply; it must return the reply of call(), or textReply(…)',
    ],
    'no status': [
      replyOf(undefined, { status: '200' as never }),
      'intercept returned a reply whose status is not an HTTP status',
    ],
    'headers of no text': [
      replyOf(undefined, { headers: { a: 5 } as never }),
      'intercept returned a reply whose headers is not an object of texts',
    ],
    'no stream': [
      { ...replyOf(), events: [] },
      'intercept returned a reply whose events is not an EventStream; EventStream.from(…) makes one from a generator',
    ],
    'no number of attempts': [
      replyOf(undefined, { attempts: -1 }),
      'intercept returned a reply whose attempts is not a number of calls',
    ],
  };
  for (const [what, [reply, message]] of Object.entries(broken))
    it(`are refused a reply with ${what}, which is the fault of their stage`, async () => {
      const { error, trace } = await wrapped({ outer: goOn, bad: async () => reply as ModelReply });
      expect(error).to.be.instanceOf(TypeError).with.property('message', message);
      expect(trace.blamed(error)).to.deep.equal({ stage: 'bad', path: 'pipeline[1]', at });
      expect(pluginPlace(error), 'a file that is not to blame').to.equal(undefined);
    });

  it('are blamed for their own faults, not for those of a call', async () => {
    const fault = new TypeError('Mine.');
    const fails: Intercept = async () => {
      throw fault;
    };
    const own = await wrapped({ outer: goOn, own: fails });
    expect(own.trace.blamed(own.error)).to.deep.equal({ stage: 'own', path: 'pipeline[1]', at });
    const other = await wrapped({ outer: goOn }, () => Promise.reject(fault));
    expect(other.error).to.equal(fault);
    expect(other.trace.blamed(fault)).to.equal(undefined);
    const noRequest: Intercept = (_, call) => call(undefined as never);
    const { error, trace } = await wrapped({ noRequest });
    expect(error).to.have.property('message', 'call() needs a Messages request with a model.');
    expect(trace.blamed(error)).to.deep.equal({ stage: 'noRequest', path: 'pipeline[0]', at });
  });

  it('have the time that they take themselves, which upstream-call then has not', async () => {
    const slow: Intercept = async (request, call) => {
      busy(30);
      const reply = await call(request);
      busy(30);
      return reply;
    };
    const began = performance.now();
    const { trace } = await wrapped({ outer: goOn, slow }, async () => {
      busy(50);
      return replyOf();
    });
    const totalMs = performance.now() - began;
    const [outer, inner, call] = trace.stages.map(({ ms }) => ms) as [number, number, number];
    expect(inner).to.be.at.least(60);
    expect(call).to.be.at.least(50);
    expect(outer + inner + call).to.be.at.most(totalMs);
  });

  it('may have each attempt pass a transform, their own before those above', async () => {
    const adding =
      (text: string): Intercept =>
      (request, call) =>
        call(request, { through: () => appending(text) });
    const call: ModelCall = async (_, options) => {
      let { events } = replyOf(eventsOf(messageEvents({ text: 'a' })));
      for (const make of [options?.through ?? []].flat()) events = events.through(make());
      return replyOf(events);
    };
    const { reply } = await wrapped({ outer: adding('c'), inner: adding('b') }, call);
    expect(await textOf(reply!)).to.equal('abc');
  });

  it('see an answer without a call through the transforms of those above too', async () => {
    const guard: Intercept = (request, call) => call(request, { through: () => appending('!') });
    const answers: Intercept = async () => replyOf(eventsOf(messageEvents({ text: 'Kept' })));
    const { reply, asked } = await wrapped({ guard, answers });
    expect(await textOf(reply!)).to.equal('Kept!');
    expect(asked).to.deep.equal([]);
  });

  it('see an answer in place of a failed call through the transforms of those above too', async () => {
    const guard: Intercept = (request, call) => call(request, { through: () => appending('!') });
    const cures: Intercept = (request, call) =>
      call(request).catch(() => replyOf(eventsOf(messageEvents({ text: 'Kept' }))));
    const { reply, asked } = await wrapped({ guard, cures }, () => Promise.reject(new Error('Busy.')));
    expect(await textOf(reply!)).to.equal('Kept!');
    expect(asked).to.have.length(1);
  });
});

const goOn: Intercept = (request, call) => call(request);

/** Appends to each text of a batch. */
function appending(text: string): Transform {
  return {
    transform: (batch) =>
      batch.map((event) => {
        const { json } = event;
        if (json.type !== 'content_block_delta' || json.delta.type !== 'text_delta') return event;
        return ModelEvent.of({ ...json, delta: { ...json.delta, text: json.delta.text + text } });
      }),
  };
}

async function textOf({ events }: ModelReply): Promise<string> {
  const seen = await collectEvents(events);
  return seen
    .flatMap((event) =>
      event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? [event.delta.text] : [],
    )
    .join('');
}

const at = 'gateway.yaml:1:1';
const place = { stage: 'none', path: 'pipeline[0]', at };

function context(interceptors: readonly Interceptor[]) {
  const trace = new RequestTrace(Date.now);
  const state = { interceptors, trace, delivery: 'stream' } as unknown as GatewayState & {
    trace: RequestTrace;
  }; // its part
  return { state };
}

async function wrapped(intercepts: Readonly<Record<string, Intercept>>, answer?: ModelCall) {
  const interceptors = Object.entries(intercepts).map(([stage, intercept], index) => ({
    place: { stage, path: `pipeline[${index}]`, at },
    intercept,
  }));
  const ctx = context(interceptors);
  const { trace } = ctx.state;
  const asked: Parameters<ModelCall>[0][] = [];
  const call: ModelCall = async (request, options) => {
    asked.push(request);
    return answer ? answer(request, options) : replyOf();
  };
  for (const { place: each } of interceptors) trace.enter(each);
  trace.enter({ stage: 'upstream-call', path: 'pipeline[9]', at });
  try {
    const reply = await wrapCall(ctx, call)({ model: 'm', messages: [] });
    trace.enter({ stage: 'end', path: 'pipeline[10]', at });
    return { reply, asked, trace, error: undefined };
  } catch (error) {
    return { reply: undefined, asked, trace, error };
  }
}

function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
