import { expect } from 'chai';
import { stickyKey, type Caller, type GatewayState } from '@gw2api/gateway/plugin';
import { fakeHost, fakeSlot, fakeSlots, runStage } from '@gw2api/gateway/testing';
import slotPick from '#plugins/slot-pick.js';

describe('slot-pick', () => {
  it('gives a picker that leases slots for the models asked for', async () => {
    const { slots, state } = await run();
    expect(slots.requests[0]).to.include({ queueTimeoutMs: 30_000, caller });
    expect(slots.requests[0]!.request.model).to.equal('sonnet-5');
    expect(slots.requests[0]).to.not.have.any.keys('sticky', 'slots');
    const request = { model: 'haiku-5', messages: [] };
    expect((await state.picker.lease(request)).slot.id).to.equal('a');
    expect(slots.requests[1]).to.include({ request, queueTimeoutMs: 30_000 });
  });

  it('names the session by the headers of the contract, the first one sent', async () => {
    const expected = stickyKey('k1', { 'x-session-id': 's' });
    expect(await keyOf({}, { 'x-session-id': 's', 'x-conversation-id': 'c' })).to.equal(expected);
    expect(await keyOf({}, { 'x-conversation-id': 's', 'x-claude-code-session-id': 'c' })).to.equal(expected);
    expect(await keyOf({}, { 'x-claude-code-session-id': 's', 'session-id': 'c' })).to.equal(expected);
    expect(await keyOf({}, { 'session-id': 's' })).to.equal(expected);
  });

  it('scopes the session to the key of the caller', async () => {
    const headers = { 'x-session-id': 's' };
    const other = { caller: { ...caller, keyId: 'k2' } };
    const [first, second] = [await run({}, headers), await run(other, headers)];
    expect(first.slots.requests[0]!.sticky!.key).to.not.equal(second.slots.requests[0]!.sticky!.key);
  });

  it('looks into the body and the request where no header names it', async () => {
    const expected = stickyKey('k1', { 'x-session-id': 's' });
    const byUser = { model: 'sonnet-5', messages: [], metadata: { user_id: 's' } };
    expect(await keyOf({ body: { prompt_cache_key: 's', metadata: { user_id: 'u' } } })).to.equal(expected);
    expect(await keyOf({ body: { user: 's' }, request: byUser })).to.equal(expected);
    expect(await keyOf({ body: { prompt_cache_key: 5, metadata: null } })).to.equal(undefined);
  });

  it('looks where the operator says', async () => {
    const { slots } = await run(
      { body: { a: { b: 's' } } },
      {},
      { stickyFrom: ['X-Thread', 'a.b'], stickyTtl: '5m' },
    );
    expect(slots.requests[0]!.sticky).to.deep.equal({
      key: stickyKey('k1', { 'x-session-id': 's' }),
      ttlMs: 300_000,
    });
    const named = await run({}, { 'x-thread': 's' }, { stickyFrom: ['X-Thread'] });
    expect(named.slots.requests[0]!.sticky!.key).to.equal(stickyKey('k1', { 'x-session-id': 's' }));
  });

  it('limits the slots where the operator does', async () => {
    const { slots } = await run({}, {}, { slots: ['red-*', 'b'] });
    expect(slots.requests[0]!.slots).to.deep.equal(['red-*', 'b']);
  });

  it('never takes a system prompt for a session', async () => {
    const request = { model: 'sonnet-5', messages: [], system: 'You are shared.' };
    expect((await run({ request, body: request })).slots.requests[0]).to.not.have.property('sticky');
  });

  it('refuses a policy that nobody has registered, and a duration that is none', async () => {
    for (const options of [{ policy: 'lucky' }, { stickyTtl: 'long' }]) {
      const problem: unknown = await run({}, {}, options).catch((error: unknown) => error);
      expect(problem).to.be.instanceOf(TypeError);
    }
  });
});

const caller: Caller = { kind: 'key', keyId: 'k1', name: 'team' };
const basics = { caller, request: { model: 'sonnet-5', messages: [] }, body: {} };

async function run(
  state: Partial<GatewayState> = {},
  headers: Record<string, string> = {},
  options: Record<string, unknown> = {},
) {
  const slots = fakeSlots(fakeSlot('a'));
  const host = fakeHost({ slots });
  const below = async (ctx: { state: Partial<GatewayState> }) => {
    const { picker, request } = ctx.state as GatewayState; // set by the stage and the test
    await picker.lease(request);
  };
  const result = await runStage(slotPick, { host, headers, options, below, state: { ...basics, ...state } });
  return { ...result, slots };
}

async function keyOf(state: Partial<GatewayState>, headers: Record<string, string> = {}) {
  const { slots } = await run(state, headers);
  return slots.requests[0]?.sticky?.key;
}
