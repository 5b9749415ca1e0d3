import { expect } from 'chai';
import { fakeHost } from '@gw2api/gateway/testing';
import { Audit } from '#src/state/audit/audit.js';
import { GatewayError } from '#src/plugin/index.js';
import type { AuditEntry } from '#src/state/store/contract/audit.js';
import { MemoryStore } from '#src/state/store/memory/store.js';
import { clockAt } from '../../clock-at.js';

const actor = { kind: 'oidc', name: 'ann' } as const;

describe('the audit of a gateway', () => {
  let nowMs: number;
  let store: MemoryStore;
  let isDown: boolean;
  let audit: Audit;
  let lines: { level: string; fields: Readonly<Record<string, unknown>>; message: string }[];
  beforeEach(() => {
    nowMs = Date.UTC(2026, 0, 1);
    store = new MemoryStore();
    isDown = false;
    lines = [];
    const line = (level: string) => (fields: object, message: string) =>
      void lines.push({ level, fields: fields as Readonly<Record<string, unknown>>, message });
    const log = { ...fakeHost().log, info: line('info'), warn: line('warn'), error: line('error') };
    const append = async (entries: readonly AuditEntry[]) => {
      if (isDown) throw new GatewayError('store_unavailable', 'away');
      if (entries.some(({ action }) => action === 'bad')) throw new Error('invalid byte sequence');
      await store.audit.append(entries);
    };
    audit = new Audit({ store: { append }, log, clock: clockAt(() => nowMs) });
  });
  afterEach(() => audit.close());
  const entries = async () => (await store.audit.page({}, { limit: 1000 })).entries;

  it('has an entry and a log line of what is done, with what it has changed', async () => {
    const terms = { action: 'key.update', actor, address: '::1', requestId: 'req_1' };
    const result = await audit.run(terms, (action) => {
      action.target = 'key_1';
      action.change({ name: 'a', limit: 1, note: 'n' }, { name: 'a', limit: 2, note: 'n' });
      return 5;
    });
    expect(result).to.equal(5);
    const [entry] = await entries();
    const { id, ...rest } = entry!;
    expect(id).to.match(/^aud_[\da-f]{24}$/);
    expect(rest).to.deep.equal({
      atMs: nowMs,
      actor,
      action: 'key.update',
      target: 'key_1',
      outcome: 'done',
      before: { name: 'a', limit: 1 },
      after: { name: 'a', limit: 2 },
      address: '::1',
      requestId: 'req_1',
    });
    const fields = { by: 'oidc', name: 'ann', what: 'key.update', target: 'key_1' };
    expect(lines).to.deep.equal([{ level: 'info', fields, message: 'An operator changed the gateway.' }]);
  });

  it('has sixty refused calls of an actor a minute, and then how many are missing; none of what is done', async () => {
    const run = async (name: string, refusal?: string) =>
      audit.run({ action: 'slot.pause', actor: { kind: 'oidc', name } }, (action) => {
        if (refusal !== undefined) action.refuse(refusal);
      });
    for (let nth = 0; nth < 100; nth += 1) await run('vera', 'forbidden');
    expect(await entries()).to.have.length(60);
    expect(lines).to.have.length(60);
    await run('ann', 'forbidden');
    for (let nth = 0; nth < 100; nth += 1) await run('vera');
    expect(await entries()).to.have.length(161);
    nowMs += 60_000;
    await run('vera', 'forbidden');
    const [latest] = await entries();
    expect(latest).to.deep.include({ outcome: 'refused', after: { unrecorded: 40 } });
    await run('ann', 'forbidden');
    expect((await entries())[0]).not.to.have.property('after');
  });

  it('keeps a count of a thousand actors at most', async () => {
    const run = async (name: string) =>
      audit.run({ action: 'x', actor: { kind: 'oidc', name } }, (action) => action.refuse('forbidden'));
    for (let nth = 0; nth < 1200; nth += 1) await run(`actor-${nth}`);
    expect(lines).to.have.length(1000 + 60);
  });

  it('has what was refused or has failed by its code, and never by its message', async () => {
    const refuse = async (error: Error): Promise<unknown> => {
      const run = audit.run({ action: 'key.create', actor }, (): never => {
        throw error;
      });
      return run.catch((thrown: unknown) => thrown);
    };
    const conflict = new GatewayError('conflict', 'The secret is hunter2.');
    expect(await refuse(conflict)).to.equal(conflict);
    await refuse(new GatewayError('store_unavailable', 'hunter2'));
    await refuse(new TypeError('hunter2'));
    const found = (await entries()).map(({ outcome, code }) => [outcome, code]);
    expect(found).to.deep.equal([
      ['failed', 'internal'],
      ['failed', 'store_unavailable'],
      ['refused', 'conflict'],
    ]);
    expect(JSON.stringify([lines, await entries()])).to.not.include('hunter2');
  });

  it('has nothing of somebody whom it does not know', async () => {
    await audit.run({ action: 'key.create' }, () => undefined);
    expect(await entries()).to.deep.equal([]);
  });

  it('keeps the order of entries of one millisecond', async () => {
    for (let nth = 0; nth < 300; nth += 1)
      await audit.run({ action: 'slot.pause', actor, target: `s${nth}` }, () => undefined);
    const targets = (await entries()).map(({ target }) => target);
    expect(targets).to.deep.equal(Array.from({ length: 300 }, (_, nth) => `s${299 - nth}`));
  });

  it('is written later where the store is down, and the log has the entry meanwhile', async () => {
    isDown = true;
    for (const target of ['a', 'b'])
      await audit.run({ action: 'slot.pause', actor, target }, (action) => {
        action.change({ state: 'ready' }, { state: 'paused' });
      });
    expect(await entries()).to.deep.equal([]);
    const waiting = lines.filter(({ level }) => level === 'warn');
    expect(waiting.map(({ fields }) => (fields['entry'] as AuditEntry).target)).to.deep.equal(['a', 'b']);
    expect(audit.caches['unwritten_audit_entries']!()).to.deep.equal({ entries: 2, capacity: 1000 });
    await audit.flush();
    expect(await entries()).to.deep.equal([]);
    isDown = false;
    nowMs += 60_000;
    await audit.run({ action: 'slot.resume', actor, target: 'a' }, () => undefined);
    await audit.flush();
    expect(await entries()).to.have.length(3);
    expect((await entries()).map(({ action, atMs }) => [action, nowMs - atMs])).to.deep.equal([
      ['slot.resume', 0],
      ['slot.pause', 60_000],
      ['slot.pause', 60_000],
    ]);
    expect((await entries()).at(-1)).to.deep.equal(waiting[0]!.fields['entry']);
  });

  it('drops the oldest of 1000 that wait, and says so', async () => {
    isDown = true;
    for (let nth = 0; nth <= 1000; nth += 1)
      await audit.run({ action: 'slot.pause', actor, target: `s${nth}` }, () => undefined);
    const lost = lines.filter(({ level }) => level === 'error');
    expect(lost.map(({ fields }) => (fields['entry'] as AuditEntry).target)).to.deep.equal(['s0']);
    isDown = false;
    await audit.flush();
    expect(await entries()).to.have.length(1000);
  });

  it('is not held up by an entry that the store refuses', async () => {
    isDown = true;
    for (const action of ['bad', 'slot.pause']) await audit.run({ action, actor }, () => undefined);
    isDown = false;
    await audit.flush();
    expect((await entries()).map(({ action }) => action)).to.deep.equal(['slot.pause']);
    expect(lines.filter(({ level }) => level === 'error')).to.have.length(1);
  });

  it('has 60 failed logins a minute, and how many there were besides', async () => {
    const anonymous = { kind: 'anonymous', name: 'anonymous' } as const;
    const fail = () => audit.run({ action: 'session.login', actor: anonymous }, () => undefined);
    for (let nth = 0; nth < 75; nth += 1) await fail();
    expect(await entries()).to.have.length(60);
    nowMs += 60_000;
    await fail();
    expect((await entries())[0]).to.deep.include({ after: { unrecorded: 15 } });
  });
});
