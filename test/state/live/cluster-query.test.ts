import { expect } from 'chai';
import { ClusterQuery } from '#src/state/live/cluster-query.js';
import { MemoryHub } from '#src/state/live/memory/hub.js';

describe('an enquiry', () => {
  const query = (hub: MemoryHub, answer: () => number | Promise<number>, timeoutMs = 5000) =>
    new ClusterQuery(hub.connect(), { topic: 'test', answer, timeoutMs });

  it('is answered by all others, each for itself', async () => {
    const hub = new MemoryHub();
    const [one, two] = [1, 2, 3].map((nth) => query(hub, async () => nth));
    const [first, second] = await Promise.all([one!.ask(), two!.ask()]);
    expect(first).to.have.members([2, 3]);
    expect(second).to.have.members([1, 3]);
  });

  it('leaves out who does not answer in time', async () => {
    const hub = new MemoryHub();
    const asking = query(hub, () => 1, 5);
    query(hub, () => 2);
    query(hub, () => new Promise(() => undefined));
    expect(await asking.ask()).to.deep.equal([2]);
  });

  it('asks nobody where there is nobody', async () => {
    const live = new MemoryHub().connect();
    let sent = 0;
    const messages = { ...live.messages, send: () => void (sent += 1) };
    const alone = new ClusterQuery(
      { ...live, instances: 1, messages },
      { topic: 'test', answer: () => 1, timeoutMs: 5000 },
    );
    expect(await alone.ask()).to.deep.equal([]);
    expect(sent).to.equal(0);
  });
});
