import { expect } from 'chai';
import {
  GatewayError,
  type GatewayState,
  type Intercept,
  type MessagesRequest,
  type ModelEvents,
  type Plugin,
  type Slot,
  type SlotCall,
} from '#src/plugin/index.js';
import type { RefusedPart } from '@gw2api/gateway/plugin/upstream';
import {
  collectEvents,
  eventsOf,
  fakeHost,
  fakeSlot,
  ManualClock,
  messageEvents,
  pickerOf,
  runStage,
} from '@gw2api/gateway/testing';
import upstreamCall from '#plugins/upstream-call.js';

const [start] = messageEvents();
const request: MessagesRequest = { model: 'sonnet-5', messages: [] };

function refusal(status = 400, message = 'top_k: no'): GatewayError {
  return new GatewayError('invalid_request_error', message, {
    status,
    type: 'invalid_request_error',
    failure: { kind: 'status', status, headers: {} },
  });
}

function overloaded(): GatewayError {
  return new GatewayError('overloaded_error', 'Busy.', {
    status: 529,
    failure: { kind: 'status', status: 529, headers: {} },
  });
}

const topK: RefusedPart = { without: 'top_k', isOfModel: true, isAsked: false };

/** Slot that refuses the parts in this order until the call is without them. */
function choosy(id: string, parts: readonly RefusedPart[], fail: () => never = refuse) {
  const next = (call: SlotCall) => parts.find(({ without }) => !call.without?.has(without));
  const answer = (call: SlotCall): ModelEvents => {
    if (next(call)) fail();
    return eventsOf(messageEvents());
  };
  return fakeSlot(id, {
    generate: answer,
    countTokens: (call) => {
      answer(call);
      return { inputTokens: 3, estimated: false };
    },
    refused: (_, call) => next(call),
  });
}

function refuse(): never {
  throw refusal();
}

type RunOptions = Parameters<typeof runStage>[1] & { readonly plugin?: Plugin };

async function run(slots: readonly Slot[], { plugin = upstreamCall, ...options }: RunOptions = {}) {
  const { picker, history } = pickerOf(...slots);
  const events: unknown[] = [];
  const result = await runStage(plugin, {
    ...options,
    state: { request, delivery: 'stream', picker, ...options.state },
    async below(ctx) {
      const { reply } = ctx.state as GatewayState;
      if (reply) events.push(...(await collectEvents(reply.events)));
    },
  });
  return { ...result, history, events };
}

const withouts = ({ calls }: { readonly calls: readonly SlotCall[] }) =>
  calls.map(({ without }) => [...(without ?? [])]);

describe('a refused part of a request', () => {
  for (const status of [400, 422])
    it(`is left out of one more call in the same place after ${status}`, async () => {
      const slot = choosy('a', [topK], () => {
        throw refusal(status);
      });
      const { headers, history, state } = await run([slot, fakeSlot('b')]);
      expect(withouts(slot)).to.deep.equal([[], ['top_k']]);
      expect(history).to.deep.equal(['answered a', 'released a']);
      expect(headers).to.include({ 'x-gw-slot': 'a', 'x-gw-attempts': '2' });
      expect(state.reply.attempts).to.equal(2);
      expect(state.trace.calls.map(({ slot: id, code }) => [id, code])).to.deep.equal([
        ['a', 'invalid_request_error'],
        ['a', undefined],
      ]);
    });

  it('is left out where an answer of 200 begins with the refusal, and not after content', async () => {
    const error = { type: 'error', error: { type: 'invalid_request_error', message: 'top_k: no' } } as const;
    for (const [before, calls] of [
      [[start!], 2],
      [messageEvents().slice(0, 3), 1],
    ] as const) {
      const slot = fakeSlot('a', {
        generate: (call) => (call.without ? eventsOf(messageEvents()) : eventsOf(...before, error)),
        refused: () => topK,
      });
      await run([slot], { state: { delivery: 'whole' } });
      expect(slot.calls).to.have.length(calls);
    }
  });

  it('is none after other statuses, nor where the kind of upstream knows of none', async () => {
    for (const slot of [
      choosy('a', [topK], () => {
        throw overloaded();
      }),
      fakeSlot('a', { generate: refuse, refused: () => undefined }),
      fakeSlot('a', { generate: refuse }),
      fakeSlot('a', { generate: refuse, refused: () => topK }),
    ]) {
      const { status } = await run([slot]);
      expect(status).to.be.oneOf([400, 529]);
      expect(slot.calls.length).to.be.at.most(2);
    }
  });

  it('is taken back twice at most for one answer, over all slots, apart from the attempts', async () => {
    const parts = ['a', 'b', 'c'].map((without) => ({ ...topK, without }));
    const first = choosy('one', parts);
    expect(await run([first])).to.include({ status: 400 });
    expect(withouts(first)).to.deep.equal([[], ['a'], ['a', 'b']]);
    const busy = fakeSlot('busy', {
      generate: ({ without }) => {
        if (!without) throw refusal();
        throw overloaded();
      },
      refused: () => topK,
    });
    const second = choosy('two', parts);
    const { headers } = await run([busy, second], { options: { attempts: 2 } });
    expect(withouts(busy)).to.deep.equal([[], ['top_k']]);
    expect(withouts(second)).to.deep.equal([[], ['a']]);
    expect(headers['x-gw-attempts']).to.equal('4');
  });

  it('takes a call from the budget of an interceptor, and none where that has no more', async () => {
    for (const [left, calls] of [
      [1, 1],
      [2, 2],
    ] as const) {
      const slot = choosy('a', [topK]);
      const budget = { left };
      const intercept: Intercept = (asked, call) => call(asked, { budget });
      const place = { stage: 'own', path: 'pipeline[3]', at: 'gateway.yaml:4:5' };
      await run([slot], { state: { interceptors: [{ place, intercept }] } });
      expect([slot.calls.length, budget.left]).to.deep.equal([calls, left - calls]);
    }
  });

  it('is left out of token counts, too', async () => {
    const slot = choosy('a', [topK]);
    const { state, headers } = await run([slot], { state: { operation: 'count-tokens' } });
    expect(state.count.inputTokens).to.equal(3);
    expect(withouts(slot)).to.deep.equal([[], ['top_k']]);
    expect(headers['x-gw-attempts']).to.equal('2');
  });

  describe('that holds for the model', () => {
    it('is left out of later calls of that model in that slot, for an hour from the answer', async () => {
      const clock = new ManualClock();
      const stage = await stageWith(clock);
      const slot = choosy('a', [topK]);
      await stage([slot]);
      await stage([slot]);
      expect(withouts(slot)).to.deep.equal([[], ['top_k'], ['top_k']]);
      const [other, sameName] = [choosy('b', []), choosy('a', [])];
      await stage([other]);
      await stage([sameName], { ...request, model: 'haiku-5' });
      expect([...withouts(other), ...withouts(sameName)]).to.deep.equal([[], []]);
      clock.pass(3_600_000);
      await stage([slot]);
      expect(withouts(slot).at(-2)).to.deep.equal([]);
    });

    it('is forgotten where the call without it has not answered', async () => {
      const stage = await stageWith(new ManualClock());
      const slot = fakeSlot('a', { generate: refuse, refused: () => topK });
      await stage([slot]);
      await stage([slot]);
      expect(withouts(slot)).to.deep.equal([[], ['top_k'], [], ['top_k']]);
    });

    it('is replaced by the later value of its name', async () => {
      const stage = await stageWith(new ManualClock());
      const efforts = ['effort=low,high', 'effort'].map((without) => ({ ...topK, without }));
      const slot = choosy('a', efforts.slice(0, 1));
      await stage([slot]);
      await stage([choosy('a', efforts.slice(1))]);
      await stage([slot]);
      expect(withouts(slot).slice(0, 3)).to.deep.equal([[], ['effort=low,high'], ['effort']]);
    });
  });

  it('that is the fault of one value is remembered for no other request', async () => {
    const stage = await stageWith(new ManualClock());
    const slot = choosy('a', [{ ...topK, isOfModel: false }]);
    await stage([slot]);
    await stage([slot]);
    expect(withouts(slot)).to.deep.equal([[], ['top_k'], [], ['top_k']]);
  });
});

/** Runs one instance of the stage again and again. */
async function stageWith(clock: ManualClock) {
  let made: unknown;
  const plugin: Plugin = {
    ...upstreamCall,
    setup: (options, gateway) => (made ??= upstreamCall.setup(options, gateway)),
  };
  const host = fakeHost({ clock });
  return (slots: readonly Slot[], asked = request) => run(slots, { plugin, host, state: { request: asked } });
}
