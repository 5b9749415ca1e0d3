import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { fakeHost } from '@gw2api/gateway/testing';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import { Names } from '#src/operator/names.js';
import { LiveReaders } from '#src/features/requests/live.js';
import { SharedFeed } from '#src/features/requests/request-feed.js';
import { MemoryHub } from '#src/state/live/memory/hub.js';
import type { OperatorContext } from '#src/operator/route.js';
import { row } from '../../state/store/ledger-conformance.js';

describe('the live requests', () => {
  const feed = new SharedFeed(new MemoryHub().connect());
  const { log, store } = fakeHost();
  const names = new Names(store, () => 0);
  const closing = new AbortController().signal;
  const parts = { feed, log, names, closing, sessions: { onEnded: () => undefined } };
  const readers = new LiveReaders(parts);

  const open = (filter: (row: LedgerRow) => boolean = () => true) => {
    const res = new EventEmitter();
    const ctx = { res } as unknown as OperatorContext; // all that is used
    return { res, body: readers.open({ ctx, filter, isAllowed: async () => true }) };
  };

  it('drop a reader that does not read, and say so to it', async () => {
    const { res, body } = open();
    for (let nth = 0; nth < 5000; nth += 1) feed.publish(row(`r${nth}`, nth));
    const pieces: string[] = [];
    for await (const piece of body as AsyncIterable<string>) pieces.push(piece);
    expect(pieces.at(-1)).to.equal(': you read too slowly; connect again\n\n');
    expect(pieces.length).to.be.below(10);
    res.emit('close');
  });

  it('end for a reader whose session is over', async () => {
    const impatient = new LiveReaders({ ...parts, checkEveryMs: 1 });
    const answers = [true, true, false];
    const ctx = { res: new EventEmitter() } as unknown as OperatorContext; // all that is used
    const body = impatient.open({ ctx, filter: () => true, isAllowed: async () => answers.shift() ?? false });
    const pieces: string[] = [];
    for await (const piece of body as AsyncIterable<string>) pieces.push(piece);
    expect(pieces.at(-1)).to.equal(': your session is over\n\n');
    expect(answers).to.deep.equal([]);
    ctx.res.emit('close');
  });

  it('reach a reader that comes late with all that was in between', async () => {
    const { res, body } = open(({ failed }) => failed);
    for (let nth = 0; nth < 900; nth += 1) feed.publish(row(`r${nth}`, nth, { failed: nth % 2 === 0 }));
    await turn();
    res.emit('close');
    let count = 0;
    for await (const piece of body as AsyncIterable<string>)
      count += Number(piece.startsWith('event: request'));
    expect(count).to.equal(450);
  });

  it('are forgotten with the connection of their reader', () => {
    const { res, body } = open();
    res.emit('close');
    body.destroy();
    feed.publish(row('late', 1));
  });
});
