import { expect } from 'chai';
import { SharedFeed } from '#src/console/request-feed.js';
import { MemoryHub } from '#src/store/live/memory.js';
import { row } from '../store/conformance.js';

describe('the feed of requests', () => {
  it('tells of what ends on another instance, while somebody listens', () => {
    const hub = new MemoryHub();
    const [here, there] = [hub.connect(), hub.connect()];
    let sent = 0;
    const counting = { ...there.messages, send: () => void (sent += 1) };
    const [one, other] = [new SharedFeed(here), new SharedFeed(there)];
    const unheard = new SharedFeed({ ...there, messages: counting });
    unheard.publish(row('before', 1));
    const heard: string[] = [];
    const stop = one.subscribe(({ id }) => heard.push(id));
    const again = one.subscribe(() => undefined);
    other.publish(row('a', 1));
    one.publish(row('b', 2));
    new SharedFeed(hub.connect()).publish(row('c', 3));
    stop();
    other.publish(row('d', 4));
    again();
    unheard.publish(row('after', 5));
    expect(heard).to.deep.equal(['a', 'b', 'c']);
    expect(sent).to.equal(0);
  });
});
