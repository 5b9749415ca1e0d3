import { expect } from 'chai';
import { messageEvents } from '@gw2api/gateway/testing';
import { ModelEvent } from '@gw2api/gateway/plugin';
import { AnswerGrammar } from '#src/plugin/remote/review/grammar.js';
import { CheckedChunk } from '#src/plugin/remote/review/verdict.js';

/** A list that counts how often its items are read. */
class CountedEvents extends Array<ModelEvent> {
  reads = 0;

  override [Symbol.iterator](): ArrayIterator<ModelEvent> {
    this.reads += 1;
    return super[Symbol.iterator]();
  }
}

describe('a chunk of an answer under review', () => {
  const eventsOf = (text: string) =>
    CountedEvents.from(messageEvents({ text }), (event) => ModelEvent.of(event)) as CountedEvents;

  function chunkOf(events: readonly ModelEvent[], isLast = true) {
    const grammar = new AnswerGrammar();
    return { grammar, chunk: new CheckedChunk({ events, isLast }, { grammar, maxHeldBytes: 0 }) };
  }

  it('walks the events of a verdict that it has checked once', () => {
    const events = eventsOf('Another.');
    const { chunk, grammar } = chunkOf(eventsOf('Hello.'));
    const verdict = { kind: 'change', events } as const;
    chunk.check(verdict);
    expect(chunk.after(verdict)).to.include({ hasStarted: true, nextIndex: 1 });
    expect(events.reads).to.equal(1);
    expect(grammar).to.include({ hasStarted: false, nextIndex: 0 });
  });

  it('checks each verdict by itself, on the answer as it was before the chunk', () => {
    const { chunk } = chunkOf(eventsOf('Hello.'));
    const half = eventsOf('Another.').slice(0, 3);
    expect(() => chunk.check({ kind: 'change', events: half })).to.throw(TypeError, 'message_stop');
    expect(() => chunk.after({ kind: 'hold' })).to.throw(TypeError, 'the last events cannot be held');
    chunk.check({ kind: 'change', events: eventsOf('Another.') });
    expect(chunk.after({ kind: 'allow' })).to.include({ hasStarted: true, nextIndex: 1 });
    expect(chunk.after({ kind: 'refuse', message: 'No.' })).to.include({ hasStarted: false });
  });
});
