import { EventEmitter, once } from 'node:events';
import { request as sendRequest } from 'node:http';
import { expect } from 'chai';
import { Deadline } from '#src/kit/time/deadline.js';
import {
  GatewayError,
  ModelEvent,
  type GatewayState,
  type Intercept,
  type MessagesRequest,
  type MessagesStreamEvent,
  type ModelEvents,
  type Slot,
  type SlotCall,
} from '#src/plugin/index.js';
import type { Interceptor } from '#src/plugin/contract/state.js';
import {
  collectEvents,
  eventsOf,
  fakeHost,
  fakeModels,
  fakeSlot,
  messageEvents,
  pickerOf,
  replyOf,
  runStage,
  serveStage,
} from '@gw2api/gateway/testing';
import upstreamCall from '#plugins/upstream-call.js';

describe('upstream-call', () => {
  it('asks the slot for a stream, under the name that the upstream knows', async () => {
    const slot = fakeSlot('a');
    const host = fakeHost({ models: fakeModels({ id: 'sonnet-5', upstreamModel: 'vendor-5' }) });
    const { events } = await run([slot], { host });
    expect(slot.calls).to.have.length(1);
    expect(slot.calls[0]!.request).to.deep.equal({ model: 'vendor-5', messages: [], stream: true });
    expect(slot.calls[0]).to.include({ headersTimeoutMs: 60_000, idleTimeoutMs: 120_000 });
    expect(events).to.deep.equal(messageEvents());
  });

  it('sends what belongs to the wire format of the headers, and no credential', async () => {
    const slot = fakeSlot('a');
    const headers = {
      'anthropic-beta': 'x',
      authorization: 'Bearer key',
      cookie: 'c',
      'x-gw-cache-ttl': '5m',
    };
    await run([slot], { headers });
    expect(slot.calls[0]!.headers).to.deep.equal({
      'anthropic-beta': 'x',
      'anthropic-version': '2023-06-01',
    });
  });

  it('sends the query string of a Messages caller, of no other', async () => {
    for (const [format, search] of [
      ['messages', '?beta=true'],
      ['chat', ''],
    ] as const) {
      const slot = fakeSlot('a');
      await run([slot], { path: '/v1/messages?beta=true', state: { format } });
      expect(slot.calls[0]!.search).to.equal(search);
    }
  });

  it('names the fields that the upstream cannot express, once, of the call that answered', async () => {
    const dropping = (...dropped: readonly string[]) => ({
      generate: () => ({ status: 200, headers: {}, events: eventsOf(messageEvents()), dropped }),
    });
    const first = await run([fakeSlot('a', dropping('top_k', 'tools[0]'))]);
    expect(first.headers['x-gw-dropped']).to.equal('top_k, tools[0]');
    const twice: Intercept = async (request, call) => {
      await call(request);
      return call(request);
    };
    const second = await run([fakeSlot('a', dropping('top_k'))], {
      state: { interceptors: [interceptor(twice)] },
    });
    expect(second.headers['x-gw-dropped']).to.equal('top_k');
  });

  it('says which slot answered, after how many calls, and what the upstream said of its limits', async () => {
    const headers = { 'request-id': 'r1', 'retry-after': '1', 'x-ratelimit-left': '3', server: 'nginx' };
    const slot = fakeSlot('a', {
      generate: () => ({ status: 200, headers, events: eventsOf(messageEvents()) }),
    });
    const answer = await run([slot]);
    expect(answer.headers).to.include({
      'x-gw-slot': 'a',
      'x-gw-attempts': '1',
      'request-id': 'r1',
      'x-ratelimit-left': '3',
    });
    expect(answer.headers).to.not.have.property('server');
  });

  it('reports the answer at the commit point and gives the place back at the end', async () => {
    const { history } = await run([fakeSlot('a')]);
    expect(history).to.deep.equal(['answered a', 'released a']);
  });

  describe('before the commit point', () => {
    const failures: Record<string, [() => ModelEvents, string]> = {
      'a refused call': [
        () => {
          throw overloaded();
        },
        'overloaded_error',
      ],
      'an error event': [
        () => eventsOf(start, { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } }),
        'overloaded_error',
      ],
      'an end without message_stop': [() => eventsOf(start), 'upstream_interrupted'],
      'an empty turn': [
        () => eventsOf(messageEvents({ content: [], stopReason: null })),
        'incomplete_response',
      ],
      'a broken stream': [() => eventsOf(start, overloaded()), 'overloaded_error'],
      'an event that is not JSON': [() => brokenEvents(), 'upstream_interrupted'],
    };
    for (const [name, [generate, code]] of Object.entries(failures))
      it(`goes to another slot after ${name}`, async () => {
        const slots = [fakeSlot('a', { generate }), fakeSlot('b')];
        const { history, events, headers, state } = await run(slots);
        expect(events).to.deep.equal(messageEvents());
        expect(history).to.deep.equal([`failed a: ${code}`, 'answered b', 'released b']);
        expect(headers).to.include({ 'x-gw-slot': 'b', 'x-gw-attempts': '2' });
        const calls = state.trace.calls.map((call) => call.ms >= 0 && [call.slot, call.code]);
        expect(calls).to.deep.equal([
          ['a', code],
          ['b', undefined],
        ]);
      });

    const silences: Record<string, (call: SlotCall) => ModelEvents | Promise<ModelEvents>> = {
      'an upstream that only pings': pingsUntilAborted,
      'an upstream that never answers': async (call) => {
        await abortOf(call);
        throw call.signal.reason;
      },
      'an upstream that makes an error of its own of the end': async (call) => {
        await abortOf(call);
        throw new Error('socket hang up');
      },
    };
    for (const [name, generate] of Object.entries(silences))
      it(`goes to another slot after firstTokenTimeout from ${name}`, async () => {
        const slots = [fakeSlot('a', { generate }), fakeSlot('b')];
        const options = { firstTokenTimeout: '20ms' };
        const { history, events } = await run(slots, { options });
        expect(events).to.deep.equal(messageEvents());
        expect(history).to.deep.equal(['failed a: upstream_timeout', 'answered b', 'released b']);
      });

    it('answers 504 where the first content does not come in time from any slot', async () => {
      const { status, body } = await run([fakeSlot('a', { generate: pingsUntilAborted })], {
        options: { firstTokenTimeout: '20ms' },
      });
      expect(status).to.equal(504);
      expect(body).to.deep.equal({
        error: {
          type: 'upstream_error',
          code: 'upstream_timeout',
          message: 'The upstream of slot "a" sent no content within 20 ms.',
        },
      });
    });

    it('tells the slot when content has come, and limits nothing from then on', async () => {
      const hasContent: (boolean | undefined)[] = [];
      const generate = async function* (call: SlotCall): ModelEvents {
        const look = () => hasContent.push(call.hasContent?.());
        const [begin, open, delta, ...rest] = messageEvents().map((json) => ModelEvent.of(json));
        yield [begin!, open!];
        look();
        yield [delta!];
        look();
        // Another limit of the same length, which is surely over when this is.
        await new Promise<void>((resolve) => {
          new Deadline(resolve, () => false).start(40);
          setTimeout(resolve, 1000);
        });
        expect(call.signal.aborted).to.equal(false);
        yield rest;
      };
      const { events, failure } = await run([fakeSlot('a', { generate })], {
        options: { firstTokenTimeout: '20ms' },
      });
      expect(failure).to.equal(undefined);
      expect(events).to.deep.equal(messageEvents());
      expect(hasContent).to.deep.equal([false, true]);
    });

    it('throws the last failure where no slot is left', async () => {
      const { status, body, headers, nextCalled } = await run([
        fakeSlot('a', { generate: refuse }),
        fakeSlot('b', { generate: refuse }),
      ]);
      expect(status).to.equal(529);
      expect(body).to.deep.equal({
        error: { type: 'overloaded_error', code: 'overloaded_error', message: 'Busy.' },
      });
      expect(headers).to.include({ 'x-gw-slot': 'b', 'x-gw-attempts': '2', 'retry-after': '7' });
      expect(nextCalled).to.equal(false);
    });

    it('stops after the attempts that the operator allows, and holds no place', async () => {
      const slots = ['a', 'b', 'c'].map((id) => fakeSlot(id, { generate: refuse }));
      const { headers, history } = await run(slots, { options: { attempts: 2 } });
      expect(headers['x-gw-attempts']).to.equal('2');
      expect(history).to.deep.equal(['failed a: overloaded_error', 'failed b: overloaded_error']);
    });

    it('answers 502 incomplete_response to a turn with nothing visible and no stop reason', async () => {
      const { status, body } = await run([fakeSlot('a', { generate: sayNothing })]);
      expect(status).to.equal(502);
      expect(body).to.have.nested.property('error.code', 'incomplete_response');
      expect(body).to.have.nested.property('error.type', 'upstream_error');
    });

    it('does not blame a slot for a fault of the gateway', async () => {
      const fault = new GatewayError('internal', 'Ours.');
      const { history, status } = await run([
        fakeSlot('a', {
          generate: () => {
            throw fault;
          },
        }),
        fakeSlot('b'),
      ]);
      expect(status).to.equal(500);
      expect(history).to.deep.equal(['released a']);
    });
  });

  describe('after the commit point', () => {
    const [, open, delta] = messageEvents();

    it('hands on what came and then the failure, and asks nobody else', async () => {
      const generate = breaking(start, open!, delta!);
      const { failure, events, history } = await run([fakeSlot('a', { generate }), fakeSlot('b')]);
      expect(events).to.deep.equal([start, open, delta]);
      expect(failure).to.have.property('code', 'overloaded_error');
      expect(history).to.deep.equal(['answered a', 'released a']);
    });

    it('says so where the stream just ends', async () => {
      const { failure } = await run([fakeSlot('a', { generate: () => eventsOf([start, open!, delta!]) })]);
      expect(failure).to.have.property('code', 'upstream_interrupted');
    });

    it('is not there yet for whole delivery until message_stop', async () => {
      const generate = breaking(start, open!, delta!);
      const { history, events } = await run([fakeSlot('a', { generate }), fakeSlot('b')], {
        state: { delivery: 'whole' },
      });
      expect(events).to.deep.equal(messageEvents());
      expect(history[0]).to.equal('failed a: overloaded_error');
    });
  });

  it('wraps the call in the interceptors, the first one outermost', async () => {
    const seen: string[] = [];
    const named = (name: string): Interceptor =>
      interceptor((request, call) => {
        seen.push(name);
        return call({ ...request, max_tokens: 7 });
      });
    const slot = fakeSlot('a');
    await run([slot], { state: { interceptors: [named('outer'), named('inner')] } });
    expect(seen).to.deep.equal(['outer', 'inner']);
    expect(slot.calls[0]!.request.max_tokens).to.equal(7);
  });

  it('takes a place for each further call of an interceptor', async () => {
    const { history, state } = await run([fakeSlot('a')], { state: { interceptors: [interceptor(twice)] } });
    expect(history).to.deep.equal(['answered a', 'released a', 'again a', 'answered a', 'released a']);
    expect(state.trace.usage.billed).to.deep.equal({ input_tokens: 20, output_tokens: 10 });
  });

  it('leases a slot for each call by the model of that call, and says which one answered', async () => {
    const slot = fakeSlot('a');
    const other: Intercept = async (request, call) => {
      await collectEvents((await call(request)).events);
      return call({ ...request, model: 'haiku-5' });
    };
    const { models, state, headers } = await run([slot], { state: { interceptors: [interceptor(other)] } });
    expect(models).to.deep.equal(['sonnet-5', 'haiku-5']);
    expect(state.reply).to.include({ model: 'haiku-5', slot: 'a' });
    expect(headers).to.include({ 'x-gw-model': 'haiku-5', 'x-gw-attempts': '2' });
    expect(state.trace.calls.map(({ model }) => model)).to.deep.equal([undefined, 'haiku-5']);
  });

  it('names no slot where an interceptor has answered without a call', async () => {
    const answer: Intercept = async () => {
      const { slot: _, ...reply } = replyOf(eventsOf(messageEvents()), { model: '', attempts: 0 });
      return reply;
    };
    const { headers, models, history, events } = await run([fakeSlot('a')], {
      state: { interceptors: [interceptor(answer)] },
    });
    expect(events).to.deep.equal(messageEvents());
    expect(headers).to.not.have.any.keys('x-gw-slot', 'x-gw-model');
    expect(headers['x-gw-attempts']).to.equal('0');
    expect([...models, ...history]).to.deep.equal([]);
  });

  it('hands on that there is no slot, which an interceptor may cure', async () => {
    const none = new GatewayError('no_slot_available', 'All slots are full.', {
      headers: { 'retry-after': '3' },
    });
    const { picker } = pickerOf(fakeSlot('a'));
    const full = {
      lease: (request: MessagesRequest) =>
        request.model === 'haiku-5' ? picker.lease(request) : Promise.reject(none),
    };
    const refused = await run([], { state: { picker: full } });
    expect(refused.status).to.equal(503);
    expect(refused.headers['retry-after']).to.equal('3');
    const cure: Intercept = (request, call) =>
      call(request).catch(() => call({ ...request, model: 'haiku-5' }));
    const cured = await run([], { state: { picker: full, interceptors: [interceptor(cure)] } });
    expect(cured.events).to.deep.equal(messageEvents());
  });

  it('tallies what the upstream bills', async () => {
    const usage = { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 1 };
    const generate = () => eventsOf(messageEvents({ usage, finalUsage: { output_tokens: 9 } }));
    const { state } = await run([fakeSlot('a', { generate })]);
    expect(state.trace.usage.billed).to.deep.equal({
      input_tokens: 3,
      cache_read_input_tokens: 4,
      output_tokens: 9,
    });
  });

  it('does not mark the slot when the caller leaves', async () => {
    const asked = new EventEmitter();
    const slot = fakeSlot('a', {
      generate: async ({ signal }) => {
        asked.emit('call');
        await new Promise<void>((resolve) => signal.addEventListener('abort', resolve));
        throw overloaded();
      },
    });
    const { picker, history } = pickerOf(slot, fakeSlot('b'));
    const server = await serveStage(upstreamCall, { state: { ...basics, picker } });
    const sent = sendRequest(server.origin, { method: 'POST' }).on('error', () => undefined);
    const call = once(asked, 'call');
    sent.end();
    await call;
    sent.destroy();
    const { outcome } = await server.served;
    expect(outcome).to.equal('abandoned');
    await server.close();
    expect(history).to.deep.equal(['released a']);
  });

  describe('for a token count', () => {
    const state = { operation: 'count-tokens' } as const;

    it('gives the count of the upstream, asked without stream', async () => {
      const slot = fakeSlot('a', { countTokens: () => ({ inputTokens: 12, estimated: false }) });
      const run1 = await run([slot], {
        state: { ...state, request: { model: 'm', messages: [], stream: true } },
      });
      expect(run1.state.count).to.deep.equal({
        inputTokens: 12,
        estimated: false,
        slot: 'a',
        windows: undefined,
      });
      expect(slot.calls[0]!.request).to.deep.equal({ model: 'm', messages: [] });
      expect(run1.headers['x-gw-slot']).to.equal('a');
      expect(run1.history).to.deep.equal(['released a']);
    });

    it('gives the windows of an OAuth account, and an estimate, without asking', async () => {
      const windows = { '5h': { percentUsed: 12.5, resetsAtMs: 0 }, '7d': null };
      const slot = fakeSlot('a', { accountKind: 'oauth', reportsWindows: true, windows });
      const { count } = (await run([slot], { state })).state;
      expect(count).to.deep.include({ windows, estimated: true, slot: 'a' });
      expect(count.inputTokens).to.be.greaterThan(0);
      expect(slot.calls).to.deep.equal([]);
    });

    it('passes a failure on and leaves the slot as it is', async () => {
      const slot = fakeSlot('a', {
        countTokens: () => {
          throw overloaded();
        },
      });
      const { status, headers, history } = await run([slot, fakeSlot('b')], { state });
      expect(status).to.equal(529);
      expect(headers).to.include({ 'x-gw-slot': 'a', 'x-gw-attempts': '1' });
      expect(history).to.deep.equal(['released a']);
    });
  });
});

const [start] = messageEvents() as [ReturnType<typeof messageEvents>[number]];
const request: MessagesRequest = { model: 'sonnet-5', messages: [] };
const basics = { request, delivery: 'stream' } as const;

function overloaded(): GatewayError {
  return new GatewayError('overloaded_error', 'Busy.', {
    status: 529,
    type: 'overloaded_error',
    headers: { 'retry-after': '7' },
    failure: { kind: 'status', status: 529, headers: {} },
  });
}

/** As a real upstream: it ends with what the signal says. */
async function* pingsUntilAborted({ signal }: SlotCall): ModelEvents {
  yield [ModelEvent.of(start)];
  while (!signal.aborted) {
    yield [ModelEvent.of({ type: 'ping' })];
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw signal.reason;
}

function abortOf({ signal }: SlotCall): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve());
  });
}

async function* brokenEvents(): ModelEvents {
  yield [new ModelEvent('message_start', '{"type":')];
}

function refuse(): never {
  throw overloaded();
}

function sayNothing(): ModelEvents {
  return eventsOf(messageEvents({ content: [], stopReason: null }));
}

function breaking(...events: readonly MessagesStreamEvent[]): () => ModelEvents {
  return () => eventsOf(...events, overloaded());
}

const interceptor = (intercept: Intercept): Interceptor => ({
  place: { stage: 'own', path: 'pipeline[3]', at: 'gateway.yaml:4:5' },
  intercept,
});

const twice: Intercept = async (request, call) => {
  const first = await call(request);
  await collectEvents(first.events);
  return call(request);
};

/** Runs the stage and then reads the reply, as format-encode does. */
async function run(
  slots: readonly Slot[],
  options: Omit<Parameters<typeof runStage>[1] & object, 'below'> = {},
) {
  const { picker, history, models } = pickerOf(...slots);
  const events: unknown[] = [];
  let failure: unknown;
  const result = await runStage(upstreamCall, {
    ...options,
    state: { ...basics, picker, ...options.state },
    async below(ctx) {
      const { reply } = ctx.state as GatewayState;
      if (!reply) return;
      try {
        for await (const batch of reply.events) events.push(...batch.map(({ json }) => json));
      } catch (error) {
        failure = error;
      }
    },
  });
  return { ...result, history, models, events, failure };
}
