import { expect } from 'chai';
import { EventHub } from '#src/engine/pipeline/stage/event-hub.js';
import { fakeHost } from '@gw2api/gateway/testing';
import { ask, startPair, stages } from '../../whole/harness.js';
import { TempFolders } from '../../whole/temp-folders.js';

const taken = { outcome: 'taken', atMs: 0 } as const;

describe('the events of stages', () => {
  const folders = new TempFolders();
  afterEach(() => folders.remove());

  it('reach a listener later, in order, until its subscription ends', async () => {
    const host = fakeHost();
    const heard: number[] = [];
    const all = new Promise<void>((resolve) => {
      host.events.on('reload', ({ atMs }) => {
        heard.push(atMs);
        if (heard.length === 2) resolve();
      });
    });
    host.emit('reload', { ...taken, atMs: 1 });
    host.emit('reload', { ...taken, atMs: 2 });
    expect(heard).to.deep.equal([]);
    await all;
    expect(heard).to.deep.equal([1, 2]);
    await host.dispose();
    host.emit('reload', { ...taken, atMs: 3 });
    await new Promise(setImmediate);
    expect(heard).to.deep.equal([1, 2]);
  });

  it('are dropped and counted beyond 1,000 that wait, and a fault of a listener is logged', async () => {
    const drops: object[] = [];
    const hub = new EventHub({ dropped: { add: (labels) => void drops.push(labels) } });
    const host = fakeHost();
    const events = hub.of({ name: 'slow', log: host.log, onDispose: () => undefined });
    const failed = new Promise<void>((resolve) => {
      events.on('reload', () => {
        resolve();
        throw new Error('It broke.');
      });
    });
    for (let at = 0; at < 1002; at += 1) hub.emit('reload', taken);
    expect(drops).to.deep.equal(Array.from({ length: 2 }, () => ({ event: 'reload', stage: 'slow' })));
    await failed;
    await new Promise(setImmediate);
    expect(host.logged[0]).to.deep.include({ level: 'error', message: 'A listener of host.events failed.' });
  });

  it('say what there is', () => {
    const { events } = fakeHost();
    expect(() => events.on('slots' as 'reload', () => undefined)).to.throw(
      'known events: slot.state, reload',
    );
  });

  it('tell of settled requests and of slots that cool down', async () => {
    const folder = await folders.make({ 'listening.mjs': listening });
    const pair = await startPair({ pipeline: [...stages(), { use: `${folder}/listening.mjs` }] });
    try {
      const answer = await pair.post('/v1/messages', ask('Hi'));
      await answer.text();
      expect(await heardBy(pair.logged, 'request.settled')).to.deep.include({
        slot: 'a',
        status: 200,
        attempts: 1,
      });
      pair.simulator.faults.push('401');
      await (await pair.post('/v1/messages', ask('Hi again'))).text();
      const changed = await heardBy(pair.logged, 'slot.state');
      expect(changed).to.deep.include({ slot: 'a', state: 'rejected', before: 'ready' });
    } finally {
      await pair.close();
    }
  });
});

/** Event that the stage has logged. */
async function heardBy(logged: readonly Readonly<Record<string, unknown>>[], name: string): Promise<unknown> {
  for (;;) {
    const line = logged.find(({ msg }) => msg === name);
    if (line) return line['event'];
    await new Promise(setImmediate);
  }
}

const listening = `export default {
  name: 'listening',
  operations: ['generate'],
  setup(_, host) {
    for (const name of ['slot.state', 'request.settled'])
      host.events.on(name, (event) => host.log.info({ event }, name));
    return (ctx, next) => next();
  },
};`;
