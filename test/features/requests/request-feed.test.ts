import { expect } from 'chai';
import type { Live } from '#src/plugin/contract/live.js';
import { SharedFeed } from '#src/features/requests/request-feed.js';
import { MemoryHub } from '#src/state/live/memory/hub.js';
import { row } from '../../state/store/ledger-conformance.js';

describe('the feed of requests', () => {
  let hub: MemoryHub;
  beforeEach(() => {
    hub = new MemoryHub();
  });

  /** The rows that come to a listener, of which `next` gives one after the other. */
  function listen(feed: SharedFeed) {
    const ids: string[] = [];
    let wake = (): void => undefined;
    const stop = feed.subscribe(({ id }) => {
      ids.push(id);
      wake();
    });
    const heard = async (count: number) => {
      while (ids.length < count) await new Promise<void>((resolve) => void (wake = resolve));
      return ids;
    };
    return { ids, heard, stop };
  }

  /** An instance whose messages are counted, by how many rows each has. */
  function counted(): { readonly live: Live; readonly sent: number[] } {
    const live = hub.connect();
    const sent: number[] = [];
    const messages: Live['messages'] = {
      ...live.messages,
      send(topic, message) {
        sent.push((message as readonly unknown[]).length);
        live.messages.send(topic, message);
      },
    };
    return { live: { ...live, messages }, sent };
  }

  it('tells of what ends here and on the other instances', async () => {
    const [one, two, three] = Array.from({ length: 3 }, () => new SharedFeed(hub.connect()));
    const { heard } = listen(one!);
    one!.publish(row('a', 1));
    two!.publish(row('b', 2));
    three!.publish(row('c', 3));
    expect(await heard(3)).to.have.members(['a', 'b', 'c']);
  });

  it('tells an instance that somebody listened before it came', async () => {
    const { heard } = listen(new SharedFeed(hub.connect()));
    new SharedFeed(hub.connect()).publish(row('a', 1));
    expect(await heard(1)).to.deep.equal(['a']);
  });

  it('sends nothing while nobody listens elsewhere', () => {
    const { live, sent } = counted();
    const [one, two] = [new SharedFeed(live), new SharedFeed(hub.connect())];
    const here = listen(one);
    for (let nth = 0; nth < 1000; nth += 1) one.publish(row(`r${nth}`, nth));
    const [there, again] = [listen(two), listen(two)];
    there.stop();
    again.stop();
    for (let nth = 0; nth < 1000; nth += 1) one.publish(row(`s${nth}`, nth));
    expect(sent).to.deep.equal([]);
    expect(here.ids).to.have.length(2000);
  });

  it('sends many rows at once, in their order, of bounded number and without their traces', async () => {
    const { live, sent } = counted();
    const [one, two] = [new SharedFeed(live), new SharedFeed(hub.connect())];
    const { heard } = listen(two);
    const traces: unknown[] = [];
    two.subscribe(({ trace }) => traces.push(trace));
    const ids = Array.from({ length: 450 }, (_, nth) => `r${nth}`);
    for (const id of ids) one.publish(row(id, 1, { trace: { stages: [], calls: [] } }));
    expect(await heard(450)).to.deep.equal(ids);
    expect(sent).to.deep.equal([200, 200, 50]);
    expect(new Set(traces)).to.deep.equal(new Set([undefined]));
  });
});
