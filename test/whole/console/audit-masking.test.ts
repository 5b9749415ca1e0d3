import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { startGateway, type GatewayUnderTest } from '../harness.js';
import { PanelClient } from './panel-client.js';
import { TempFolders } from '../temp-folders.js';

describe('secrets and the audit log', () => {
  const folders = new TempFolders();
  let under: GatewayUnderTest;
  let panel: PanelClient;
  beforeEach(async () => {
    const store = `sqlite:${await folders.make()}/gateway.db`;
    const slots = [{ id: 'a', upstream: 'simulator' }];
    under = await startGateway({ slots, store }, {}, Date.now, {
      secretKey: randomBytes(32).toString('base64'),
    });
    panel = new PanelClient(under.url);
  });
  afterEach(async () => {
    await under.close();
    await folders.remove();
  });

  it('never meet: no secret of a slot or of a key is in any entry, whatever is done with it', async () => {
    const random = generator(14);
    const secrets: string[] = [];
    const secret = () => {
      const text = `Secret${Math.floor(random() * 1e15).toString(36)}x`;
      secrets.push(text);
      return text;
    };
    const ids: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      const id = `slot-${round}`;
      const created = await panel.fetch('POST', '/slots', { id, ...formOf(random, secret) });
      if (created.status === 201) ids.push(id);
      const target = ids[Math.floor(random() * ids.length)] ?? 'none';
      await panel.fetch('PATCH', `/slots/${target}`, formOf(random, secret));
      if (random() < 0.2) await panel.fetch('DELETE', `/slots/${target}`);
      const key = await panel.fetch('POST', '/keys', { name: `key ${round}`, note: `for ${round}` });
      secrets.push(((await key.json()) as { key: string }).key);
      const token = await panel.fetch('POST', '/admin-tokens', { name: `t${round}`, scopes: ['*'] });
      secrets.push(((await token.json()) as { token: string }).token);
      await panel.fetch('POST', '/login', { password: secret() });
    }
    expect(ids).to.have.length.above(10);
    const { entries } = await under.gateway.services.store.audit.page({}, { limit: 1000 });
    const done = entries.filter(({ outcome, action }) => outcome === 'done' && action.startsWith('slot.'));
    expect(done).to.have.length.above(20);
    const text = `${JSON.stringify(entries)} ${await (await panel.fetch('GET', '/audit/export')).text()}`;
    for (const each of secrets) expect(text.includes(each), each).to.equal(false);
    expect(JSON.stringify(under.logged)).to.not.match(/Secret[\da-z]{5,}x/);
  });

  it('leave a trace where they change, and nothing else of them', async () => {
    const account = { kind: 'api-key', key: 'first-secret' };
    const slot = { id: 'b', upstream: 'messages', baseUrl: 'http://127.0.0.1:9', account };
    await panel.ask('POST', '/slots', slot);
    await panel.ask('PATCH', '/slots/b', { account: { ...account, key: 'second-secret' }, weight: 2 });
    const { entries } = await under.gateway.services.store.audit.page({ target: 'b' }, { limit: 10 });
    const [updated, created] = entries;
    expect(created!.after).to.deep.include({ account: { kind: 'api-key', key: '***' } });
    expect(updated!.before).to.deep.equal({ account: { kind: 'api-key', key: '***' } });
    expect(updated!.after).to.deep.equal({ account: { kind: 'api-key', key: '*** (changed)' }, weight: 2 });
  });
});

/** A slot's form, valid or not, with secrets in every place that may have one. */
function formOf(random: () => number, secret: () => string): object {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  return {
    upstream: pick(['messages', 'messages', 'chat', 'responses']),
    baseUrl: pick([
      'http://127.0.0.1:9',
      `http://user:${secret()}@127.0.0.1:9/v1`,
      `http://127.0.0.1:9/?key=${secret()}`,
    ]),
    account: pick([
      { kind: 'api-key', key: secret() },
      { kind: 'bearer', token: secret() },
      { kind: 'oauth', refreshToken: secret(), clientSecret: secret(), tokenUrl: 'http://127.0.0.1:9/token' },
      { kind: 'api-key', key: secret(), unknown: secret() },
    ]),
    ...(random() < 0.5 && { headers: { 'x-extra': secret(), authorization: `Bearer ${secret()}` } }),
    ...(random() < 0.5 && { proxy: `http://me:${secret()}@127.0.0.1:9` }),
    ...(random() < 0.3 && { with: { apiKey: secret() } }),
    ...(random() < 0.3 && { weight: 1 + Math.floor(random() * 5) }),
  };
}

/** Random numbers that are the same each time. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
