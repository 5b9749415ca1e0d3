import { expect } from 'chai';
import { ask, stages, type Pair } from '../../harness.js';
import { callsTo, inFlight, issueKey, only, startTeam } from '../../kit.js';
import { clockAt } from '../../../clock-at.js';

describe('a session', () => {
  let team: Pair;
  let nowMs: number;
  beforeEach(async () => {
    nowMs = Date.UTC(2026, 0, 1);
    const pick = { policy: 'round-robin', stickyTtl: '1h' };
    team = await startTeam(
      { pipeline: stages({ with: { 'slot-pick': pick } }) },
      {},
      { clock: clockAt(() => nowMs) },
    );
  });
  afterEach(() => team.close());

  async function slotOf(
    headers: Readonly<Record<string, string>> = {},
    fields: object = {},
  ): Promise<string> {
    const response = await team.post('/v1/messages', ask('Hello!', fields), headers);
    expect(response.status).to.equal(200);
    await response.text();
    return response.headers.get('x-gw-slot')!;
  }

  async function slotsOf(count: number, headers: Readonly<Record<string, string>> = {}, fields: object = {}) {
    const slots: string[] = [];
    for (let at = 0; at < count; at += 1) slots.push(await slotOf(headers, fields));
    return slots.join('');
  }

  it('is none without a name: requests take turns', async () => {
    expect(await slotsOf(6)).to.equal('ababab');
  });

  for (const name of ['x-session-id', 'x-conversation-id', 'x-claude-code-session-id', 'session-id']) {
    it(`stays on its slot, named by ${name}`, async () => {
      const [first] = await slotsOf(1, { [name]: 'one' });
      await slotOf();
      expect(await slotsOf(6, { [name]: 'one' })).to.equal(first!.repeat(6));
      const others = await Promise.all([2, 3, 4, 5].map((other) => slotOf({ [name]: String(other) })));
      expect(new Set(others).size).to.equal(2);
    });
  }

  for (const [what, fields] of [
    ['metadata.user_id', { metadata: { user_id: 'one' } }],
    ['metadata.user_id that is JSON text', { metadata: { user_id: '{"session_id":"s"}' } }],
  ] as const) {
    it(`stays on its slot, named by ${what}`, async () => {
      const [first] = await slotsOf(1, {}, fields);
      await slotOf();
      expect(await slotsOf(4, {}, fields)).to.equal(first!.repeat(4));
    });
  }

  it('stays on its slot, named by prompt_cache_key or user in the other formats', async () => {
    for (const [path, fields] of [
      ['/v1/responses', { input: 'Hello!', prompt_cache_key: 'thread' }],
      ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello!' }], prompt_cache_key: 'chat' }],
      ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello!' }], user: 'someone' }],
    ] as const) {
      const slots = new Set<string | null>();
      for (let at = 0; at < 4; at += 1) {
        await slotOf();
        slots.add((await team.post(path, { model: 'sonnet-5', ...fields })).headers.get('x-gw-slot'));
      }
      expect(slots.size, path).to.equal(1);
    }
  });

  it('goes by the headers of the contract first, in their order', async () => {
    const bound = await slotOf({ 'x-session-id': 'one' });
    await slotOf();
    const more = { 'x-conversation-id': 'two', 'x-claude-code-session-id': 'three', 'session-id': 'four' };
    const headers = { 'x-session-id': 'one', ...more };
    expect(await slotsOf(4, headers, { metadata: { user_id: 'five' } })).to.equal(bound.repeat(4));
  });

  it('is never made of what sessions share: a system prompt, tools, the messages themselves', async () => {
    const tools = [{ name: 'look', input_schema: { type: 'object', properties: {} } }];
    expect(await slotsOf(6, {}, { system: 'You are an agent.', tools })).to.equal('ababab');
  });

  it('belongs to its key: the same name under another key is another session', async () => {
    const headers = { 'x-api-key': await issueKey(team, 'other'), 'x-session-id': 'one' };
    const [mine, theirs] = [await slotOf({ 'x-session-id': 'one' }), await slotOf(headers)];
    expect(mine).not.to.equal(theirs);
    expect(await slotsOf(3, { 'x-session-id': 'one' })).to.equal(mine.repeat(3));
    expect(await slotsOf(3, headers)).to.equal(theirs.repeat(3));
  });

  it('is the same in every format', async () => {
    const headers = { 'x-session-id': 'one' };
    const bound = await slotOf(headers);
    const messages = [{ role: 'user', content: 'Hello!' }];
    for (const [path, body] of [
      ['/v1/chat/completions', { messages }],
      ['/v1/responses', { input: 'Hello!' }],
      ['/v1/completions', { prompt: 'Hello!' }],
      ['/messages', { messages, max_tokens: 10 }],
    ] as const)
      expect(
        (await team.post(path, { model: 'sonnet-5', ...body }, headers)).headers.get('x-gw-slot'),
      ).to.equal(bound);
  });

  it('moves where its slot is paused, and stays where it was answered', async () => {
    const headers = { 'x-session-id': 'one' };
    const bound = await slotOf(headers);
    const other = bound === 'a' ? 'b' : 'a';
    team.gateway.services.slots.pause(bound);
    expect(await slotsOf(2, headers)).to.equal(other.repeat(2));
    team.gateway.services.slots.resume(bound);
    expect(await slotsOf(3, headers)).to.equal(other.repeat(3));
  });

  it('moves where its slot cools down, and stays where it was answered', async () => {
    const headers = { 'x-session-id': 'one' };
    expect(await slotOf(headers)).to.equal('a');
    team.simulator.faults.push(only('a', '529'));
    expect(await slotsOf(2, headers)).to.equal('bb');
    team.simulator.faults.pop();
    nowMs += 60_000;
    expect(await slotsOf(2, headers)).to.equal('bb');
  });

  it('stays bound where one try of it was answered elsewhere', async () => {
    const headers = { 'x-session-id': 'one' };
    expect(await slotOf(headers)).to.equal('a');
    team.simulator.faults.push(only('a', '500'));
    expect(await slotOf(headers)).to.equal('b');
    team.simulator.faults.pop();
    expect(await slotsOf(3, headers)).to.equal('aaa');
  });

  it('is bound when its slot has answered, not when it was picked', async () => {
    const headers = { 'x-session-id': 'one' };
    const bindings = () => team.gateway.services.slots.list().map((slot) => slot.bindings);
    const refused = await team.post('/v1/messages', ask('[[sim:400]]'), headers);
    expect(refused.headers.get('x-gw-slot')).to.equal('a');
    expect(bindings()).to.deep.equal([0, 0]);
    expect(await slotsOf(3, headers)).to.equal('bbb');
    expect(bindings()).to.deep.equal([0, 1]);
  });

  it('is forgotten stickyTtl after its last use', async () => {
    const headers = { 'x-session-id': 'one' };
    expect(await slotOf(headers)).to.equal('a');
    nowMs += 50 * 60_000;
    expect(await slotOf(headers)).to.equal('a');
    nowMs += 50 * 60_000;
    expect(await slotOf(headers)).to.equal('a');
    nowMs += 61 * 60_000;
    expect(await slotOf(headers)).to.equal('b');
  });

  it('waits for its slot where that is full, while others take a free one', async () => {
    const full = await startTeam({}, { a: { maxConcurrent: 1 } });
    const headers = { 'x-session-id': 'one' };
    const slotOf = async (response: Promise<Response>) => (await response).headers.get('x-gw-slot');
    expect(await slotOf(full.post('/v1/messages', ask('Hello!'), headers))).to.equal('a');
    const leave = new AbortController();
    const holding = fetch(`${full.url}/v1/messages`, {
      method: 'POST',
      headers: { ...headers, 'x-api-key': 'test-master-key', 'content-type': 'application/json' },
      body: JSON.stringify(ask('[[sim:stall after=5]]', { stream: true })),
      signal: leave.signal,
    });
    expect(await slotOf(holding)).to.equal('a');
    const waiting = full.post('/v1/messages', ask('I wait.'), headers);
    expect(await slotOf(full.post('/v1/messages', ask('Hello!')))).to.equal('b');
    expect(await slotOf(full.post('/v1/messages', ask('Hello!')))).to.equal('b');
    leave.abort();
    expect(await slotOf(waiting)).to.equal('a');
    await full.gateway.exchanges.idle();
    expect(inFlight(full)).to.deep.equal([0, 0]);
    await full.close();
  });

  it('goes elsewhere for a model that its slot does not serve', async () => {
    const mixed = await startTeam({}, { a: { models: ['sonnet-*'] }, b: { models: ['haiku-*'] } });
    const slotFor = async (model: string) =>
      (await mixed.post('/v1/messages', ask('Hello!', { model }), { 'x-session-id': 'one' })).headers.get(
        'x-gw-slot',
      );
    expect([await slotFor('sonnet-5'), await slotFor('haiku-5'), await slotFor('sonnet-5')]).to.deep.equal([
      'a',
      'b',
      'a',
    ]);
    await mixed.close();
  });

  it('keeps its prompt cache: the second call reads what the first has written', async () => {
    const system = [{ type: 'text', text: 'Rules. '.repeat(500), cache_control: { type: 'ephemeral' } }];
    const read = async () => {
      const response = await team.post('/v1/messages', ask('Hello!', { system }), { 'x-session-id': 'one' });
      return ((await response.json()) as { usage: { cache_read_input_tokens: number } }).usage;
    };
    expect((await read()).cache_read_input_tokens).to.equal(0);
    expect((await read()).cache_read_input_tokens).to.be.greaterThan(500);
    expect(callsTo(team.simulator)).to.have.length(2);
  });
});
