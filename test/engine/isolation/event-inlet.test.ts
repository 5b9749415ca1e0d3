import { expect } from 'chai';
import { ModelEvent, type ModelEventBatch } from '@gw2api/gateway/plugin';
import { EventInlet } from '#src/engine/isolation/wire/event-inlet.js';

const batch: ModelEventBatch = [ModelEvent.of({ type: 'ping' })];

describe('a stream of a child process, where it is read', () => {
  /** An inlet whose messages are kept. */
  function inletOf() {
    const pulls: number[] = [];
    let cancels = 0;
    const inlet = new EventInlet({ pull: (count) => pulls.push(count), cancel: () => (cancels += 1) });
    return { inlet, pulls, cancels: () => cancels };
  }

  /** A reader that has room for so many batches. */
  function readerOf(inlet: EventInlet, room = Infinity) {
    const read: unknown[] = [];
    const flow = inlet.events.pipe({
      write: (value) => read.push(value) < room,
      end: (error) => read.push(error ?? 'end'),
    });
    return { read, flow };
  }

  it('asks for nothing before it is read, then for eight batches, and for more once half of them are read', () => {
    const { inlet, pulls } = inletOf();
    const { flow } = readerOf(inlet);
    expect(pulls).to.deep.equal([]);
    flow.resume();
    expect(pulls).to.deep.equal([8]);
    for (let count = 0; count < 4; count += 1) inlet.write(batch);
    expect(pulls).to.deep.equal([8, 4]);
  });

  it('refuses a batch that it has not asked for', () => {
    const { inlet } = inletOf();
    expect(inlet.write(batch)).to.equal(false);
    readerOf(inlet, 1).flow.resume();
    for (let count = 0; count < 8; count += 1) expect(inlet.write(batch)).to.equal(true);
    expect(inlet.write(batch)).to.equal(false);
  });

  it('keeps what a slow reader has no room for, and ends after it', () => {
    const { inlet } = inletOf();
    const { read, flow } = readerOf(inlet, 1);
    flow.resume();
    for (let count = 0; count < 3; count += 1) inlet.write(batch);
    inlet.end();
    expect(read).to.deep.equal([batch]);
    for (let count = 0; count < 3; count += 1) flow.resume();
    expect(read).to.deep.equal([batch, batch, batch, 'end']);
  });

  it('ends with its error, once', () => {
    const { inlet } = inletOf();
    const { read, flow } = readerOf(inlet);
    flow.resume();
    const error = new Error('lost');
    inlet.end(error);
    inlet.end();
    expect(read).to.deep.equal([error]);
    expect(inlet.write(batch), 'what comes later is dropped').to.equal(true);
  });

  it('cancels its source if the reader leaves, unless that has ended', () => {
    const left = inletOf();
    const { flow } = readerOf(left.inlet);
    flow.resume();
    flow.cancel();
    flow.cancel();
    expect(left.cancels()).to.equal(1);
    const ended = inletOf();
    ended.inlet.end();
    ended.inlet.events.cancel();
    expect(ended.cancels()).to.equal(0);
  });
});
