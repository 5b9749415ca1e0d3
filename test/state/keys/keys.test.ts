import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { isGatewayError, type ProtocolKey } from '@gw2api/gateway/plugin';
import { issueKey, CheckedKeys } from '#src/state/keys/keys.js';
import { MemoryStore } from '#src/state/store/memory/store.js';
import { quiet } from '../store/stores.js';
import { clockAt } from '../../clock-at.js';

describe('a key that is issued', () => {
  it('is 256 random bits behind the prefix, of which only a hash and four characters are kept', () => {
    const { text, key } = issueKey({ name: 'team', models: ['a*'], note: null }, 5);
    expect(text).to.match(/^sk-gw-[\w-]{43}$/);
    expect(key).to.deep.equal({
      id: key.id,
      name: 'team',
      hash: createHash('sha256').update(text).digest('hex'),
      last4: text.slice(-4),
      createdAtMs: 5,
      models: ['a*'],
    });
    expect(issueKey({ name: 'team' }, 5).text).to.not.equal(text);
  });
});

describe('the keys that callers send', () => {
  let nowMs: number;
  let asked: number;
  let isGone: boolean;
  let store: MemoryStore;
  let keys: CheckedKeys;
  let text: string;
  let key: ProtocolKey;

  beforeEach(async () => {
    [nowMs, asked, isGone] = [1_000_000, 0, false];
    store = new MemoryStore({ now: () => nowMs });
    ({ text, key } = issueKey({ name: 'team' }, nowMs));
    await store.keys.put(key);
    const findByHash = async (hash: string) => {
      asked += 1;
      if (isGone) throw new Error('the store is gone');
      return store.keys.findByHash(hash);
    };
    keys = new CheckedKeys({
      masterKey: 'the master',
      store: { keys: { ...store.keys, findByHash }, teams: store.teams },
      log: quiet,
      clock: clockAt(() => nowMs),
    });
  });
  afterEach(() => keys.close());

  it('are the master key, a protocol key, or none of ours', async () => {
    expect(await keys.check('the master')).to.deep.equal({ kind: 'master' });
    expect(await keys.check(text)).to.deep.equal({ kind: 'key', key });
    expect(await keys.check(`${text}x`)).to.equal(undefined);
    expect(await keys.check('')).to.equal(undefined);
  });

  it('are asked of the store once in a while, known or not', async () => {
    for (let time = 0; time < 5; time += 1) await keys.check(text);
    expect(asked).to.equal(1);
    for (let time = 0; time < 5; time += 1) await keys.check('sk-gw-unknown');
    expect(asked).to.equal(2);
  });

  it('are asked of the store once, however many requests come at once', async () => {
    await Promise.all(Array.from({ length: 20 }, () => keys.check(text)));
    expect(asked).to.equal(1);
  });

  it('are let in no more a second after they were revoked elsewhere, and at once where they were forgotten', async () => {
    expect(await keys.check(text)).to.not.equal(undefined);
    await store.keys.update(key.id, { revokedAtMs: nowMs });
    nowMs += 1000;
    expect(await keys.check(text)).to.equal(undefined);
    await store.keys.update(key.id, { revokedAtMs: null });
    keys.forget();
    expect(await keys.check(text)).to.not.equal(undefined);
  });

  it('are not remembered as they were when they were asked for, where they change meanwhile', async () => {
    const asking = keys.check(text); // its answer is on its way
    await store.keys.update(key.id, { revokedAtMs: nowMs });
    keys.forget();
    await asking;
    expect(await keys.check(text)).to.equal(undefined);
  });

  it('go on where they are to be asked anew and the store is gone', async () => {
    await keys.check(text);
    isGone = true;
    keys.forget();
    expect(await keys.check(text)).to.deep.equal({ kind: 'key', key });
  });

  it('are let in no more from the moment that they expire', async () => {
    await store.keys.update(key.id, { expiresAtMs: nowMs + 10 });
    expect(await keys.check(text)).to.not.equal(undefined);
    nowMs += 10;
    expect(await keys.check(text)).to.equal(undefined);
  });

  it('are known soon after they were issued, also where they were tried before', async () => {
    const early = issueKey({ name: 'early' }, nowMs);
    expect(await keys.check(early.text)).to.equal(undefined);
    await store.keys.put(early.key);
    nowMs += 1000;
    expect(await keys.check(early.text)).to.deep.include({ kind: 'key' });
  });

  it('go on while the store is gone where they were known lately; others are asked to come again', async () => {
    await keys.check(text);
    isGone = true;
    nowMs += 2000;
    expect(await keys.check(text)).to.deep.equal({ kind: 'key', key });
    const refusal = await keys.check('sk-gw-another').catch((error: unknown) => error);
    expect(isGatewayError(refusal) && refusal).to.deep.include({
      status: 503,
      headers: { 'retry-after': '1' },
    });
    nowMs += 3_600_000;
    expect(isGatewayError(await keys.check(text).catch((error: unknown) => error))).to.equal(true);
    isGone = false;
    expect(await keys.check(text)).to.deep.equal({ kind: 'key', key });
  });

  it('leave the time of their last use in the store', async () => {
    await keys.check(text);
    expect(await store.keys.get(key.id)).to.not.have.property('lastUsedAtMs');
    await keys.flush();
    expect(await store.keys.get(key.id)).to.include({ lastUsedAtMs: nowMs });
  });

  it('fill no memory while the store does not take when they were used', async () => {
    const findByHash = async (hash: string) => ({ ...key, id: hash, hash });
    const touch = () => Promise.reject(new Error('the disk is full'));
    const full = new CheckedKeys({
      masterKey: '',
      store: { keys: { ...store.keys, findByHash, touch }, teams: store.teams },
      log: quiet,
      clock: clockAt(() => nowMs),
    });
    for (let at = 0; at < 10_100; at += 1) await full.check(`sk-gw-${at}`);
    await full.flush();
    for (let at = 0; at < 10; at += 1) await full.check(`sk-gw-another-${at}`);
    for (const fill of Object.values(full.caches)) expect(fill().entries).to.be.at.most(10_000);
    expect(full.caches['unwritten_key_uses']!()).to.deep.equal({ entries: 10_000, capacity: 10_000 });
    await full.close();
  });

  it('are refused for a moment where too many are looked up already', async () => {
    let answer = (): void => undefined;
    const answers = new Promise<void>((resolve) => (answer = resolve));
    const findByHash = () => answers.then(() => undefined);
    const slow = new CheckedKeys({
      masterKey: '',
      store: { keys: { ...store.keys, findByHash }, teams: store.teams },
      log: quiet,
      clock: clockAt(() => nowMs),
    });
    const asking = Array.from({ length: 10_000 }, (_, at) => slow.check(`sk-gw-${at}`));
    const refusal = await slow.check('sk-gw-one-more').catch((error: unknown) => error);
    expect(isGatewayError(refusal) && refusal).to.include({ status: 503 });
    answer();
    expect(new Set(await Promise.all(asking))).to.deep.equal(new Set([undefined]));
    await slow.close();
  });

  it('have the pipeline of their team beside their own', async () => {
    await store.teams.put({ id: 't1', name: 'search', createdAtMs: 1, pipeline: 'blue' });
    await store.keys.update(key.id, { team: 't1', pipeline: 'red' });
    keys.forget();
    const known = await keys.check(text);
    expect(known).to.have.nested.property('key.pipeline', 'red');
    expect(known).to.have.deep.property('team', { id: 't1', name: 'search', pipeline: 'blue' });
  });

  it('take a pass of this process once, as the key or as the master key', async () => {
    const pass = await keys.pass(key.id);
    expect(pass.text).to.match(/^gw-pass-[\w-]{43}$/);
    expect(await keys.check(pass.text)).to.deep.equal({ kind: 'key', key });
    expect(await keys.check(pass.text)).to.equal(undefined);
    const master = await keys.pass('master');
    expect(await keys.check(`${master.text}x`)).to.equal(undefined);
    expect(await keys.check(master.text)).to.deep.equal({ kind: 'master' });
    const ended = await keys.pass('master');
    ended.end();
    expect(await keys.check(ended.text)).to.equal(undefined);
    const error = await keys.pass('key_nobody').catch((thrown: unknown) => thrown);
    expect(isGatewayError(error) && error.code).to.equal('not_found');
  });

  it('do not take a pass for a key that is revoked meanwhile', async () => {
    await store.keys.update(key.id, { revokedAtMs: nowMs });
    expect(await keys.check((await keys.pass(key.id)).text)).to.equal(undefined);
  });
});
