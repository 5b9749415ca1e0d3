import { expect } from 'chai';
import { ask, stages, type Pair } from '../../harness.js';
import { callsTo, errorIn, only, startTeam } from '../../kit.js';

describe('slots with names of their own for models', () => {
  let team: Pair;
  beforeEach(async () => {
    const a = { models: { 'sonnet-5': 'vendor.sonnet-5-v1:0', 'haiku-*': true } };
    const b = { models: { 'sonnet-*': 'acme/sonnet', '*': 'acme/any' } };
    team = await startTeam({ pipeline: stages({ with: { 'slot-pick': { policy: 'priority' } } }) }, { a, b });
  });
  afterEach(() => team.close());

  /** Models asked for upstream, in order, with the last letter of the key. */
  const asked = (): readonly string[] =>
    callsTo(team.simulator).map(
      ({ credential, body }) => `${credential.slice(-1)} ${(body as { model: string }).model}`,
    );

  for (const stream of [true, false])
    it(`ask each upstream by its own name, attempt by attempt (stream: ${stream})`, async () => {
      team.simulator.faults.push(only('a', '529'));
      const response = await team.post('/v1/messages', ask('Hello!', { model: 'sonnet-5', stream }));
      expect(response.status).to.equal(200);
      expect(asked()).to.deep.equal(['a vendor.sonnet-5-v1:0', 'b acme/sonnet']);
      expect(response.headers.get('x-gw-model')).to.equal('sonnet-5');
      expect(await response.text())
        .to.include('"model":"sonnet-5"')
        .and.not.include('acme/sonnet');
    });

  it('send the name of the catalog where the map says true, and one name for all that a glob names', async () => {
    for (const model of ['haiku-5', 'sonnet-5-5', 'a-model-of-no-catalog'])
      expect((await team.post('/v1/messages', ask('Hello!', { model }))).status).to.equal(200);
    expect(asked()).to.deep.equal(['a haiku-5', 'b acme/sonnet', 'b acme/any']);
  });

  it('count tokens by that name', async () => {
    const { max_tokens: _, ...counted } = ask('Hello!', { model: 'sonnet-5' }) as Record<string, unknown>;
    const response = await team.post('/v1/messages/count_tokens', counted);
    expect(response.status).to.equal(200);
    const counts = team.simulator.requests.filter(({ path }) => path.endsWith('/count_tokens'));
    expect(counts.map(({ body }) => (body as { model: string }).model)).to.deep.equal([
      'vendor.sonnet-5-v1:0',
    ]);
  });

  it('cool down by it, so that two models of one name cool together', async () => {
    team.simulator.faults.push('429');
    await errorIn(await team.post('/v1/messages', ask('Hello!', { model: 'sonnet-5' })));
    const { data } = (await (await team.get('/admin/slots')).json()) as {
      data: readonly { upstream_models: object; cooling_models: readonly { model: string }[] }[];
    };
    expect(data.map(({ cooling_models: models }) => models.map(({ model }) => model))).to.deep.equal([
      ['vendor.sonnet-5-v1:0'],
      ['acme/sonnet'],
    ]);
    expect(data.map(({ upstream_models: names }) => names)).to.deep.equal([
      { 'sonnet-5': 'vendor.sonnet-5-v1:0' },
      { 'sonnet-*': 'acme/sonnet', '*': 'acme/any' },
    ]);
  });
});
