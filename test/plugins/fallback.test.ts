import { expect } from 'chai';
import { GatewayError } from '#src/plugin/index.js';
import type { CallFailure } from '#src/plugin/contract/error.js';
import { extrasOf, withExtras, type Extras, type ModelCall } from '@gw2api/gateway/plugin';
import { fakeHost, fakeModels, replyOf, runStage } from '@gw2api/gateway/testing';
import fallback from '#plugins/fallback.js';

describe('fallback', () => {
  it('asks the next model where all slots have failed the first one, and says which answered', async () => {
    const { asked, state } = await run({ 'sonnet-5': failing({ kind: 'unreachable', reused: false }) });
    expect(asked).to.deep.equal(['sonnet-5', 'haiku-5']);
    expect(state.reply.model).to.equal('haiku-5');
  });

  it('sends no other model the logit_bias of the first one, whose tokens it names', async () => {
    const failed = failing({ kind: 'unreachable', reused: false });
    const { requests } = await run({ 'sonnet-5': failed }, { extras: { logit_bias: { 42: 7 }, seed: 1 } });
    expect(requests.map(extrasOf)).to.deep.equal([{ logit_bias: { 42: 7 }, seed: 1 }, { seed: 1 }]);
  });

  it('leaves models alone that it has nothing for', async () => {
    const { asked, status } = await run({ other: status529 }, { model: 'other' });
    expect(asked).to.deep.equal(['other']);
    expect(status).to.equal(529);
  });

  const leadOn = {
    429: 'rate_limited',
    503: 'overloaded',
    529: 'overloaded',
    500: 'failed',
    502: 'failed',
  } as const;
  for (const [status, reason] of Object.entries(leadOn))
    it(`takes an upstream's ${status} for ${reason}`, async () => {
      const error = failing(statusOf(Number(status)), Number(status));
      expect((await run({ 'sonnet-5': error }, { on: [reason] })).asked).to.have.length(2);
      const others = ['rate_limited', 'overloaded', 'failed'].filter((other) => other !== reason);
      expect((await run({ 'sonnet-5': error }, { on: others })).asked).to.have.length(1);
    });

  it('takes a full pool for overloaded, and half an answer for failed', async () => {
    const full = new GatewayError('no_slot_available', 'Full.');
    expect((await run({ 'sonnet-5': full }, { on: ['overloaded'] })).asked).to.have.length(2);
    const half = failing({ kind: 'interrupted' }, 502);
    expect((await run({ 'sonnet-5': half }, { on: ['failed'] })).asked).to.have.length(2);
  });

  it('goes round no refusal of the request: a content filter, a wrong field, a key that may not', async () => {
    const refusals = [
      failing(statusOf(400), 400, 'Output blocked by content filtering policy'),
      failing(statusOf(400), 400, 'messages: must not be empty'),
      failing(statusOf(401), 401),
      new GatewayError('forbidden', 'This key may not use model "sonnet-5".'),
    ];
    for (const error of refusals)
      expect((await run({ 'sonnet-5': error })).asked).to.deep.equal(['sonnet-5']);
  });

  it('asks a model with a larger window only where the operator says so', async () => {
    const error = failing(statusOf(400), 400, 'prompt is too long: 210000 tokens > 200000 maximum');
    expect((await run({ 'sonnet-5': error })).asked).to.have.length(1);
    expect((await run({ 'sonnet-5': error }, { on: ['context_length'] })).asked).to.have.length(2);
  });

  it('passes a model by that the key may not use', async () => {
    const forbidden = new GatewayError('forbidden', 'This key may not use model "haiku-5".');
    const { asked, status } = await run({ 'sonnet-5': status529, 'haiku-5': forbidden });
    expect(asked).to.deep.equal(['sonnet-5', 'haiku-5']);
    expect(status, 'the failure of the first').to.equal(529);
    const to = { 'sonnet-5': ['haiku-5', 'opus'] };
    const further = await run({ 'sonnet-5': status529, 'haiku-5': forbidden }, { to });
    expect(further.asked).to.deep.equal(['sonnet-5', 'haiku-5', 'opus']);
    expect((await run({ 'sonnet-5': forbidden })).status).to.equal(403);
  });

  it('has one budget of calls for all models, of which it keeps one for each that follows', async () => {
    const { budgets } = await run(
      { 'sonnet-5': status529, 'haiku-5': status529, opus: status529 },
      { to: { 'sonnet-5': ['haiku-5', 'opus'] }, attempts: 5, each: 2 },
    );
    expect(budgets).to.deep.equal([3, 2, 1]);
  });

  it('lowers max_tokens to the limit of the model that it asks', async () => {
    const { requests } = await run({ 'sonnet-5': status529 });
    expect(requests.map(({ max_tokens }) => max_tokens)).to.deep.equal([5000, 1000]);
  });

  it('keeps a session on the model that has answered it, for a time', async () => {
    let nowMs = 0;
    const host = fakeHost({ ...hosted(), now: () => nowMs });
    const { live } = host;
    const headers = { 'x-session-id': 's' };
    const again = async (errors: Readonly<Record<string, Error>>, more: Record<string, string> = headers) =>
      (await run(errors, { host, headers: more })).asked;
    expect(await again({ 'sonnet-5': status529 })).to.deep.equal(['sonnet-5', 'haiku-5']);
    expect(await again({})).to.deep.equal(['haiku-5']);
    expect(await again({}, { 'x-session-id': 'other' })).to.deep.equal(['sonnet-5']);
    expect(await again({ 'haiku-5': status529 })).to.deep.equal(['haiku-5', 'sonnet-5']);
    nowMs += 600_001;
    expect(live.shared.entries('fallback/')).to.have.length.at.most(1);
  });

  it('refuses a chain that names a model twice', async () => {
    const refused: unknown = await run({}, { to: { 'sonnet-5': ['haiku-5', 'sonnet-5'] } }).catch(
      (error: unknown) => error,
    );
    expect(refused).to.have.property('message', 'to.sonnet-5: names a model twice; each is tried only once.');
  });
});

interface RunOptions {
  readonly extras?: Extras;
  readonly model?: string;
  readonly on?: readonly string[];
  readonly to?: Readonly<Record<string, readonly string[]>>;
  readonly attempts?: number;
  /** Calls that each model makes before it fails. */
  readonly each?: number;
  readonly headers?: Record<string, string>;
  readonly host?: ReturnType<typeof fakeHost>;
}

const hosted = () => ({
  models: fakeModels({ id: 'sonnet-5' }, { id: 'haiku-5', maxTokens: 1000 }, { id: 'opus' }),
});

async function run(
  errors: Readonly<Record<string, Error>>,
  {
    model = 'sonnet-5',
    to = { 'sonnet-5': ['haiku-5'] },
    on,
    attempts,
    each = 1,
    headers = {},
    host,
    extras = {},
  }: RunOptions = {},
) {
  const requests: Parameters<ModelCall>[0][] = [];
  const budgets: number[] = [];
  const call: ModelCall = async (request, options) => {
    requests.push(request);
    const [budget] = [options?.budget ?? []].flat();
    budgets.push(budget?.left ?? Infinity);
    if (budget) budget.left -= Math.min(each, budget.left);
    const error = errors[request.model];
    if (error) throw error;
    return replyOf(undefined, { model: request.model });
  };
  const caller = { kind: 'key', keyId: 'k1', name: 'team' } as const;
  const request = withExtras({ model, max_tokens: 5000, messages: [] }, extras);
  const result = await runStage(fallback, {
    options: { to, ...(on && { on }), ...(attempts && { attempts }) },
    host: host ?? fakeHost(hosted()),
    headers,
    state: { request, body: request, caller },
    call,
  });
  const asked = requests.map((each) => each.model);
  return { asked, requests, budgets, status: result.status, state: result.state };
}

function statusOf(status: number): CallFailure {
  return { kind: 'status', status, headers: {} };
}

function failing(failure: CallFailure, status = 502, message = 'It has failed.'): GatewayError {
  return new GatewayError('upstream_says_no', message, { status, type: 'api_error', failure });
}

const status529 = failing(statusOf(529), 529);
