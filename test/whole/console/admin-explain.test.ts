import { expect } from 'chai';
import type { Explanation } from '#src/features/explain/explanation.js';
import { ManualClock } from '@gw2api/gateway/testing';
import { ask, stages, startPair, type Pair } from '../harness.js';
import { callsTo, errorIn, issueKey, only, startTeam } from '../kit.js';
import { TempFolders } from '../temp-folders.js';

describe('POST /admin/explain', () => {
  let team: Pair;
  before(async () => {
    team = await startTeam();
  });
  after(() => team.close());

  async function explained(call: object): Promise<Explanation> {
    const response = await team.post('/admin/explain', call);
    expect(response.status, await response.clone().text()).to.equal(200);
    return (await response.json()) as Explanation; // the tests look at it
  }

  it('says what would happen, and asks no upstream', async () => {
    const before = team.simulator.requests.length;
    const { answer, stages, choices, outgoing } = await explained({ body: ask('hi') });
    expect(answer).to.deep.include({ status: 200, complete: true });
    expect(stages.map(({ stage }) => stage)).to.include.members(['auth', 'slot-pick', 'upstream-call']);
    expect(choices[0]!.slots.map(({ slot }) => slot)).to.deep.equal(['a', 'b']);
    expect(outgoing[0]!.headers).to.include({ 'x-api-key': '***' });
    expect(team.simulator.requests).to.have.length(before);
  });

  it('explains with the state that the slots are in now', async () => {
    team.simulator.faults.push(only('a', '429 retry-after=60'));
    await (await team.post('/v1/messages', ask('hi'))).text();
    const before = callsTo(team.simulator).length;
    const { choices } = await explained({ body: ask('hi') });
    const [a, b] = choices[0]!.slots;
    expect(a).to.deep.include({ slot: 'a', notTaken: 'cooling' });
    expect(a!.cooldown?.reason).to.equal('rate_limited');
    expect(b).not.to.have.property('notTaken');
    expect(callsTo(team.simulator)).to.have.length(before);
    team.simulator.faults.length = 0;
    await team.post('/admin/slots/a/resume', {});
  });

  it('explains as a key, whose limits it does not spend', async () => {
    const text = await issueKey(team, 'once', { requestsPerMinute: 1, slots: ['b'] });
    const { answer, choices, request } = await explained({ body: ask('hi'), as: 'once' });
    expect(answer.status).to.equal(200);
    expect(request.key).to.equal('once');
    expect(choices[0]!.slots.find(({ slot }) => slot === 'a')).to.include({
      notTaken: 'not_of_key',
      inFlight: 0,
    });
    const real = await team.post('/v1/messages', ask('hi'), { 'x-api-key': text });
    expect(real.status).to.equal(200);
    await real.text();
  });

  it('says which limit of a key is used up, by its minute and by the ledger', async () => {
    const text = await issueKey(team, 'spent', { requestsPerMinute: 1 });
    await (await team.post('/v1/messages', ask('hi'), { 'x-api-key': text })).text();
    const { answer, stages: passed } = await explained({ body: ask('hi'), as: 'spent' });
    expect(answer.status).to.equal(429);
    expect(answer.error?.message).to.match(
      /"spent" has reached its limit of 1 request per minute; .* in \d+ s/,
    );
    expect(passed.find(({ stage }) => stage === 'rate-limit')).to.include({ result: 'failed' });

    const daily = await issueKey(team, 'daily', { tokensPerDay: 1 });
    await (await team.post('/v1/messages', ask('hi'), { 'x-api-key': daily })).text();
    const again = await explained({ body: ask('hi'), as: 'daily' });
    expect(again.answer.error?.message).to.include('1 token per day');
  });

  it('knows the sessions of a key', async () => {
    const text = await issueKey(team, 'sticky');
    const headers = { 'x-session-id': 's1' };
    const real = await team.post('/v1/messages', ask('hi'), { ...headers, 'x-api-key': text });
    await real.text();
    const { choices } = await explained({ body: ask('hi'), as: 'sticky', headers });
    expect(choices[0]!.bound).to.equal(real.headers.get('x-gw-slot'));
  });

  it('takes the path of any format, and shows what that drops', async () => {
    const body = { model: 'sonnet-5', messages: [{ role: 'user', content: 'hi' }], logit_bias: { 5: 1 } };
    const { dropped, request } = await explained({ post: '/v1/chat/completions', body });
    expect(dropped).to.deep.equal(['logit_bias']);
    expect(request.format).to.equal('chat');
  });

  it('explains two at once, and refuses a third', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => team.post('/admin/explain', { body: ask('hi') })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 200, 429]);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(await errorIn(refused)).to.include({ code: 'rate_limited' });
    expect(refused.headers.get('retry-after')).to.equal('1');
  });

  it('refuses what it cannot read, an unknown key, and callers without the master key', async () => {
    const cases: readonly [call: unknown, code: string][] = [
      [{}, 'invalid_request'],
      [{ body: {}, post: 'v1' }, 'invalid_request'],
      [{ body: {}, as: 5 }, 'invalid_request'],
      [{ body: {}, headers: { 'x y': 'a' } }, 'invalid_request'],
      [{ body: {}, bdoy: {} }, 'invalid_request'],
      [{ body: {}, as: 'nobody' }, 'not_found'],
    ];
    for (const [call, code] of cases)
      expect(await errorIn(await team.post('/admin/explain', call)), JSON.stringify(call)).to.include({
        code,
      });
    const key = await issueKey(team, 'curious');
    const response = await team.post('/admin/explain', { body: ask('hi') }, { 'x-api-key': key });
    expect(response.status).to.equal(403);
  });

  it('explains no explanation', async () => {
    const { answer } = await explained({ post: '/admin/explain', body: { body: ask('hi') } });
    expect(answer).to.deep.include({ status: 409 });
  });

  it('takes a key that is named master for what it is', async () => {
    await issueKey(team, 'master', { id: 'not-the-master' });
    const { answer } = await explained({ as: 'not-the-master', post: '/admin/reload', body: {} });
    expect(answer.status).to.equal(403);
  });

  it('logs who has had it explained, without its text', async () => {
    await explained({ post: '/v1/messages?key=sk-in-the-query', body: ask('a secret plan') });
    const line = team.logged.findLast(({ msg }) => msg === 'An operator requested an explanation.');
    expect(line).to.include({ by: 'master', key: 'master', path: '/v1/messages' });
    expect(JSON.stringify(team.logged)).not.to.match(/a secret plan|sk-in-the-query/);
  });

  it('shows what was recorded of a real request, by its request id and by that of its report', async () => {
    const real = await team.post('/v1/messages', ask('hi'));
    await real.text();
    const requestId = real.headers.get('x-request-id')!;
    const recorded = (await (await team.get(`/admin/explain/${requestId}`)).json()) as Record<
      string,
      unknown
    >; // an object
    expect(recorded).to.include({ request_id: requestId, status: 200, slot: real.headers.get('x-gw-slot') });
    expect(recorded['stages']).to.have.length.above(5);
    expect(recorded['calls']).to.have.length(1);
    const again = await (await team.get(`/admin/explain/${String(recorded['id'])}`)).json();
    expect(again).to.deep.equal(recorded);
    expect((await team.get('/admin/explain/req_none')).status).to.equal(404);
  });

  it('shows a request by a request id of the caller that looks like the id of a report', async () => {
    const requestId = '1732690000.421';
    await (await team.post('/v1/messages', ask('hi'), { 'x-request-id': requestId })).text();
    const response = await team.get(`/admin/explain/${requestId}`);
    expect(response.status).to.equal(200);
    expect(await response.json()).to.include({ request_id: requestId, status: 200 });
  });
});

describe('the thread of an explanation', () => {
  const folders = new TempFolders();
  after(() => folders.remove());

  it('waits three minutes for the next one', async () => {
    const named = `import { threadId } from 'node:worker_threads';
      export default { name: 'named', setup: () => async (ctx, next) => {
        await next();
        ctx.set('x-thread', String(threadId));
      } };`;
    const use = `${await folders.make({ 'named.mjs': named })}/named.mjs`;
    const clock = new ManualClock();
    const pair = await startPair({ pipeline: [{ use }, ...stages()] }, {}, undefined, { clock });
    const threadOf = async () => {
      const response = await pair.post('/admin/explain', { body: ask('hi') });
      const { answer } = (await response.json()) as Explanation; // the tests look at it
      return answer.headers['x-thread'];
    };
    const first = await threadOf();
    expect(first).to.match(/^[1-9]/);
    expect(await threadOf()).to.equal(first);
    clock.pass(3 * 60_000);
    expect(await threadOf())
      .to.match(/^[1-9]/)
      .and.not.equal(first);
    await pair.close();
  });
});

describe('an explanation that does not end', () => {
  const folders = new TempFolders();
  after(() => folders.remove());

  it('is given up after 10 s, while the gateway serves', async () => {
    const stuck = `export default { name: 'stuck', setup: (_, host) => async (ctx, next) => {
      for (; host.dry; );
      await next();
    } };`;
    const use = `${await folders.make({ 'stuck.mjs': stuck })}/stuck.mjs`;
    const clock = new ManualClock();
    const pair = await startPair({ pipeline: [{ use }, ...stages()] }, {}, undefined, { clock });
    const isDone = { value: false };
    const explaining = pair.post('/admin/explain', { body: ask('hi') }).finally(() => (isDone.value = true));
    while (!isDone.value) {
      expect((await pair.get('/health')).status).to.equal(200);
      clock.pass(2000);
    }
    expect(await errorIn(await explaining)).to.include({ status: 408, code: 'request_timeout' });
    await pair.close();
  });
});
