import { expect } from 'chai';
import type { ObservedChoice } from '#src/engine/slots/selection/observed-choice.js';
import { leaseRequest, openPool, refusal, settled, slotConfig, sticky, type Kit } from '../kit.js';

describe('an observed choice of a slot', () => {
  const choices: ObservedChoice[] = [];
  beforeEach(() => void choices.splice(0));

  function open(...slots: ReturnType<typeof slotConfig>[]): Promise<Kit> {
    return openPool(slots, { onChoice: (choice) => choices.push(choice) });
  }

  /** Reasons of the last choice, by slot; undefined for the one that was taken. */
  function reasons(): object {
    return Object.fromEntries(choices.at(-1)!.slots.map(({ slot, notTaken }) => [slot, notTaken]));
  }

  it('says of each slot why it was not taken', async () => {
    const { pool } = await open(
      slotConfig('other', { models: ['haiku-5'] }),
      slotConfig('paused'),
      slotConfig('full', { maxConcurrent: 1 }),
      slotConfig('taken'),
      slotConfig('last', { weight: 0.5 }),
    );
    pool.pause('paused');
    await pool.lease(leaseRequest({ slots: ['full'] }));
    await pool.lease(leaseRequest());
    expect(choices.at(-1)).to.include({ model: 'sonnet-5', result: 'taken', slot: 'taken' });
    expect(reasons()).to.deep.equal({
      other: 'model_not_served',
      paused: 'paused',
      full: 'full',
      taken: undefined,
      last: 'policy',
    });
  });

  it('has the cause and the end of a cooldown, and what has failed the request before', async () => {
    const { pool, clock } = await open(slotConfig('a'), slotConfig('b'));
    const lease = await pool.lease(leaseRequest());
    await lease.another(refusal(429, { 'retry-after': '60' }));
    const [failed] = choices.at(-1)!.slots;
    expect(failed).to.deep.include({ slot: 'a', notTaken: 'cooling', lastError: 'status 429' });
    const untilMs = clock.now() + 60_000;
    expect(failed!.cooldown).to.deep.include({ reason: 'rate_limited', untilMs, checkAtMs: untilMs });
    expect(failed!.cooldown!.cause).to.include({ status: 429, header: 'retry-after: 60' });
    const again = await pool.lease(leaseRequest({ slots: ['b'] }));
    await again.another(refusal(500));
    expect(reasons()).to.deep.equal({ a: 'not_of_stage', b: undefined });
  });

  it('tells a slot of another session’s choice from one of the policy', async () => {
    const { pool } = await open(slotConfig('a'), slotConfig('b'));
    const lease = await pool.lease(sticky('s'));
    lease.answered({});
    lease.release();
    await pool.lease(sticky('s'));
    expect(choices.at(-1)).to.include({ slot: 'a', bound: 'a' });
    expect(reasons()).to.deep.equal({ a: undefined, b: 'bound_elsewhere' });
  });

  it('has the slots of other organizations, which a tool loop with thinking does not go to', async () => {
    const of = (organization: string) => ({ organization });
    const { pool } = await open(
      slotConfig('a', of('red')),
      slotConfig('b', of('blue')),
      slotConfig('c', of('red')),
    );
    const lease = await pool.lease(sticky('s'));
    lease.answered({});
    lease.release();
    pool.pause('a');
    const messages = [
      { role: 'user', content: 'How warm is it?' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: '', signature: 'sig' },
          { type: 'tool_use', id: 't', name: 'look', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: '4' }] },
    ] as const;
    const { slot } = await pool.lease({ ...sticky('s'), request: { model: 'sonnet-5', messages } });
    expect(slot.id).to.equal('c');
    expect(reasons()).to.deep.equal({ a: 'paused', b: 'other_organization', c: undefined });
  });

  it('has the slots that the key or the stage leaves out', async () => {
    const { pool } = await open(slotConfig('a'), slotConfig('b'), slotConfig('c'));
    const caller = { kind: 'key', keyId: 'k', name: 'k', slots: ['a', 'c'] } as const;
    await pool.lease(leaseRequest({ caller, slots: ['b', 'c'] }));
    expect(reasons()).to.deep.equal({ a: 'not_of_stage', b: 'not_of_key', c: undefined });
  });

  it('says that none is there, and that a request waits', async () => {
    const { pool } = await open(slotConfig('a', { maxConcurrent: 1 }));
    await pool.lease(leaseRequest());
    const waiting = pool.lease(leaseRequest()).catch(() => undefined);
    await settled();
    expect(choices.map(({ result }) => result)).to.deep.equal(['taken', 'wait']);
    pool.pause('a');
    await waiting;
    expect(choices.at(-1)).to.include({ result: 'none' });
    await pool.close();
  });
});
