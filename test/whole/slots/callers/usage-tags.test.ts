import { expect } from 'chai';
import { ask, stages, type Pair, startPair } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { PanelClient, type Answer } from '../../console/panel-client.js';
import { TempFolders } from '../../temp-folders.js';

const teamAuth = `
  import { callerClaims, definePlugin } from '@gw2api/gateway/plugin';
  export default definePlugin({
    name: 'team-auth',
    provides: ['caller'],
    operations: ['generate', 'count-tokens', 'models', 'usage', 'route'],
    setup: () => async function teamAuth(ctx, next) {
      const claims = callerClaims({ team: ctx.headers['x-team'], roles: ['user'] });
      ctx.state.caller = { kind: 'key', keyId: 'ann', name: 'ann', claims };
      await next();
    },
  });`;

const tagTeam = `export default {
  name: 'tag-team',
  requires: ['caller'],
  setup: () => async function tagTeam(ctx, next) {
    const { team } = ctx.state.caller.claims;
    if (team) ctx.state.trace.tag('team', team);
    await next();
  },
};`;

describe('claims of callers and usage tags', () => {
  const folders = new TempFolders();
  let pair: Pair;
  let panel: PanelClient;
  beforeEach(async () => {
    const folder = await folders.make({ 'team-auth.mjs': teamAuth, 'tag-team.mjs': tagTeam });
    const own = [{ use: `${folder}/team-auth.mjs` }, { use: `${folder}/tag-team.mjs` }];
    pair = await startPair({ pipeline: [...own, ...stages({ without: ['auth'] })] });
    panel = new PanelClient(pair.url);
  });
  afterEach(async () => {
    await pair.close();
    await folders.remove();
  });

  const send = async (headers: Readonly<Record<string, string>>) =>
    (await pair.post('/v1/messages', ask('Hi'), headers)).text();
  const groups = async (query: string) =>
    (await panel.get(`/usage?${query}`)).data.map((sum: Answer) => [sum.group, sum.name, sum.requests]);

  it('reach the ledger, its sums and its rows', async () => {
    await send({ 'x-team': 'red', 'x-request-id': 'tagged' });
    await send({ 'x-team': 'red' });
    await send({ 'x-team': 'blue' });
    await send({});
    await pair.gateway.exchanges.idle();
    await pair.gateway.services.ledger.flush();
    for (const step of ['1h', '5m']) {
      expect(await groups(`by=tag&step=${step}`)).to.deep.equal([['team', 'team', 3]]);
      expect(await groups(`by=tag&tag=team&step=${step}`)).to.deep.equal([
        ['blue', 'blue', 1],
        ['red', 'red', 2],
      ]);
    }
    expect(await panel.get('/usage?by=tag&tag=team')).to.deep.include({ by: 'tag', tag: 'team' });
    const [row] = (await panel.get('/requests?request_id=tagged')).data;
    expect(row.tags).to.deep.equal({ team: 'red' });
    expect((await panel.get(`/requests/${row.id}`)).tags).to.deep.equal({ team: 'red' });
  });

  for (const [query, message] of [
    ['tag=team', 'tag: is for `by=tag`'],
    ['by=tag&tag=a%20b', 'tag: must match'],
  ] as const)
    it(`refuse ?${query}: "${message}"`, async () => {
      const error = await errorIn(await panel.fetch('GET', `/usage?${query}`));
      expect(error).to.include({ status: 400, code: 'invalid_request' });
      expect(error.message).to.include(message);
    });
});
