import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  committed,
  GatewayError,
  ModelEvent,
  TextMapper,
  type MessagesStreamEvent,
  type ModelEvents,
} from '@gw2api/gateway/plugin';
import { collectEvents, eventsOf, messageEvents, recordedEvents } from '@gw2api/gateway/testing';
import { MessageReader } from '#src/engine/transport/events/message-reader.js';
import { sentEvents, withoutEarlyPings } from '../../plugins/formats/streams.js';
import { rejection, sse } from '../../engine/transport/upstream-kit.js';

describe('committed', () => {
  const [start, open, delta, close, finish, stop] = messageEvents() as readonly [
    MessagesStreamEvent,
    MessagesStreamEvent,
    MessagesStreamEvent,
    MessagesStreamEvent,
    MessagesStreamEvent,
    MessagesStreamEvent,
  ];
  const ping = { type: 'ping' } as const;
  const thinking = { type: 'thinking', thinking: '', signature: '' } as const;
  const thinkingOpen = { type: 'content_block_start', index: 0, content_block: thinking } as const;

  it('comes with the first content, not before', async () => {
    const points: [string, MessagesStreamEvent, boolean][] = [
      ['an empty text', open, false],
      ['a ping', ping, false],
      [
        'an empty delta',
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '' } },
        false,
      ],
      ['a block that is closed', close, false],
      ['a message_delta without a stop reason', { type: 'message_delta', delta: {} }, false],
      ['some text', delta, true],
      ['a block of thinking', thinkingOpen, true],
      ['a tool call', toolOpen, true],
      [
        'a block of a kind that nobody knows',
        { ...toolOpen, content_block: { type: 'compaction' } } as never,
        true,
      ],
      ['a stop reason', finish, true],
    ];
    for (const [name, event, isCommitted] of points) {
      const failure = new Error('after it');
      const reply = await committed(eventsOf(start, open, event, failure), { delivery: 'stream' }).catch(
        () => undefined,
      );
      expect(reply !== undefined, name).to.equal(isCommitted);
    }
  });

  it('comes with a message_start that holds the whole answer', async () => {
    const whole = {
      ...start,
      message: { ...(start as { message: object }).message, stop_reason: 'refusal' },
    } as MessagesStreamEvent;
    const events = eventsOf([whole], stop);
    expect(await collectEvents(await committed(events, { delivery: 'stream' }))).to.deep.equal([whole, stop]);
  });

  it('comes with message_stop for whole delivery', async () => {
    const failure = new Error('before it');
    const reading = committed(eventsOf(start, open, delta, finish, failure), { delivery: 'whole' });
    expect(await reading.catch((error: unknown) => error)).to.equal(failure);
  });

  it('gives every event once, from the first on, and shows each one to its observer', async () => {
    const seen: string[] = [];
    const reply = await committed(eventsOf([start], [open, delta], close, [finish, stop]), {
      delivery: 'stream',
      see: ({ type }) => void seen.push(type),
    });
    const events = await collectEvents(reply);
    expect(events).to.deep.equal([start, open, delta, close, finish, stop]);
    expect(seen).to.deep.equal(events.map(({ type }) => type));
  });

  it('keeps no ping that comes before it, and lets those after it through, however the bytes were split', async () => {
    const batches = [
      [[start, ping], [ping], [open, ping, delta, ping], [finish, stop]],
      [[start, ping, ping, open, ping, delta, ping, finish, stop]],
    ];
    for (const split of batches) {
      const seen: string[] = [];
      const see = ({ type }: { readonly type: string }) => void seen.push(type);
      const reply = await committed(eventsOf(...split), { delivery: 'stream', see });
      expect(await collectEvents(reply)).to.deep.equal([start, open, delta, ping, finish, stop]);
      expect(seen.filter((type) => type === 'ping')).to.have.length(4);
      const whole = await committed(eventsOf(...split), { delivery: 'whole' });
      expect(await collectEvents(whole)).to.deep.equal([start, open, delta, finish, stop]);
    }
  });

  it('says once that there is content, also where that is before the commit point', async () => {
    for (const delivery of ['stream', 'whole'] as const) {
      const seen: string[] = [];
      await collectEvents(
        await committed(eventsOf([start, ping], open, delta, delta, [finish, stop]), {
          delivery,
          see: ({ type }) => void seen.push(type),
          onContent: () => void seen.push('content'),
        }),
      );
      expect(seen.slice(0, 6)).to.deep.equal([
        'message_start',
        'ping',
        'content_block_start',
        'content_block_delta',
        'content',
        'content_block_delta',
      ]);
      expect(seen.filter((type) => type === 'content')).to.have.length(1);
    }
  });

  describe('keeps before it', () => {
    const failure = { kind: 'foreign' };
    const filler = { type: 'message_delta', delta: {}, filler: 'x'.repeat(64 * 1024) } as MessagesStreamEvent;

    it('1 MB of a stream', async () => {
      const within = eventsOf(start, ...repeated(filler, 14), open, delta, finish, stop);
      expect(await collectEvents(await committed(within, { delivery: 'stream' }))).to.have.length(19);
      const over = committed(eventsOf(start, ...repeated(filler, 16), delta), {
        delivery: 'stream',
      });
      expect(await rejection(over)).to.deep.include({
        code: 'upstream_invalid_response',
        status: 502,
        message: 'The upstream sent more than 1 MB before its first content.',
        failure,
      });
    });

    it('64 MB of a whole answer', async () => {
      const text = 'x'.repeat(4 * 1024 * 1024);
      const long = { ...delta, delta: { type: 'text_delta', text } } as MessagesStreamEvent;
      const over = committed(eventsOf(start, open, ...repeated(long, 16), stop), {
        delivery: 'whole',
      });
      expect(await rejection(over)).to.deep.include({ code: 'upstream_invalid_response', failure });
    });

    it('a few hundred thousand events of a whole answer, however short', async () => {
      async function* reads(): ModelEvents {
        yield [ModelEvent.of(start)];
        for (let at = 0; at < 60; at += 1)
          yield Array.from({ length: 10_000 }, () => new ModelEvent('x', '{}'));
        yield [ModelEvent.of(stop)];
      }
      const reading = committed(reads(), { delivery: 'whole' });
      expect(await rejection(reading)).to.include({ code: 'upstream_invalid_response' });
    });

    it('the text of a whole read for the one event that stands in it', async () => {
      const reader = new MessageReader();
      const event = sse({ type: 'message_delta', delta: {} } as { type: string });
      const read = Buffer.from(`: ${'x'.repeat(64 * 1024)}\n${sse(ping).repeat(9)}${event}`);
      async function* reads(): ModelEvents {
        yield reader.read(Buffer.from(sse(start)));
        for (let at = 0; at < 20; at += 1) yield reader.read(read);
        yield reader.read(Buffer.from(sse(delta)));
      }
      const reading = committed(reads(), { delivery: 'stream' });
      expect(await rejection(reading)).to.include({ code: 'upstream_invalid_response' });
    });
  });

  it('says once when it is over, however it ends', async () => {
    const ends: [readonly (MessagesStreamEvent | Error)[], boolean][] = [
      [[start, open, delta, finish, stop], true],
      [[start, open, delta], true],
      [[start, open, delta, new Error('broken')], true],
      [[start, open, delta, finish, stop], false],
    ];
    for (const [events, isReadToTheEnd] of ends) {
      let times = 0;
      const reply = await committed(eventsOf(...events), { delivery: 'stream', onEnd: () => (times += 1) });
      if (isReadToTheEnd) await collectEvents(reply).catch(() => undefined);
      else for await (const _ of reply) break;
      expect(times).to.equal(1);
    }
  });

  it('takes thinking without an answer and without a stop reason for no answer', async () => {
    const thought: MessagesStreamEvent = {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'thinking_delta', thinking: 'Well.' },
    };
    for (const deltas of [[], [thought]]) {
      const events = [start, thinkingOpen, ...deltas, close, stop];
      const whole: unknown = await committed(eventsOf(...events), { delivery: 'whole' }).catch(
        (error: unknown) => error,
      );
      expect(whole).to.have.property('code', 'incomplete_response');
      const stream = await committed(eventsOf(...events), { delivery: 'stream' });
      const late: unknown = await collectEvents(stream).catch((error: unknown) => error);
      expect(late).to.have.property('code', 'incomplete_response');
    }
  });

  it('takes a refusal, and an empty turn with a stop reason, for an answer', async () => {
    for (const stopReason of ['end_turn', 'refusal', 'pause_turn', 'stop_sequence']) {
      const events = messageEvents({ content: [], stopReason });
      expect(await collectEvents(await committed(eventsOf(events), { delivery: 'stream' }))).to.deep.equal(
        events,
      );
    }
  });

  it('hands on an error event after it, then throws what it says', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } } as const;
    const reply = await committed(eventsOf([start, open, delta], [close, error, finish]), {
      delivery: 'stream',
    });
    const seen: string[] = [];
    let failure: unknown;
    try {
      for await (const batch of reply) seen.push(...batch.map(({ type }) => type));
    } catch (thrown) {
      failure = thrown;
    }
    expect(seen.slice(-2)).to.deep.equal(['content_block_stop', 'error']);
    expect(failure).to.be.instanceOf(GatewayError).and.include({ code: 'overloaded_error', status: 529 });
  });

  it('is the same however the bytes were split: an error behind content is one after it, in one read too', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } } as const;
    const reply = await committed(eventsOf([start, open, delta, error]), { delivery: 'stream' });
    const failure: unknown = await collectEvents(reply).catch((thrown: unknown) => thrown);
    expect(failure).to.have.property('code', 'overloaded_error');
  });

  it('has not come where a transform still holds all that has come before a failure', async () => {
    const through = () => new TextMapper({ hold: 100, find: () => undefined });
    const failure = new GatewayError('upstream_interrupted', 'Broken.');
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } } as const;
    for (const [last, code] of [
      [failure, 'upstream_interrupted'],
      [error, 'overloaded_error'],
    ] as const) {
      const events = eventsOf(start, open, delta, last);
      const thrown = await rejection(committed(events, { delivery: 'stream', through }));
      expect(thrown).to.have.property('code', code);
    }
  });

  it('passes on what a transform holds at a failure after it', async () => {
    const through = () => new TextMapper({ hold: 4, find: () => undefined });
    const failure = new GatewayError('upstream_interrupted', 'Broken.');
    const long = {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'A text of some length.' },
    } as const;
    const reply = await committed(eventsOf(start, open, long, failure), { delivery: 'stream', through });
    let text = '';
    const reading = (async () => {
      for await (const batch of reply) for (const event of batch) text += textOf(event);
    })();
    expect(await rejection(reading)).to.equal(failure);
    expect(text).to.equal('A text of some length.');
  });

  it('lets every recorded stream through as it is, and finds the two that are cut', async function () {
    const folder = '../shared/fixtures/messages-streams';
    if (!existsSync(folder)) this.skip();
    const cut: string[] = [];
    for (const file of readdirSync(folder)) {
      const text = readFileSync(`${folder}/${file}`, 'utf8');
      for (const delivery of ['stream', 'whole'] as const) {
        try {
          const reply = await committed(recordedEvents(text), { delivery });
          expect(await dataOf(reply), file).to.deep.equal(committedData(text, delivery));
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
          if (delivery === 'whole') cut.push(file);
        }
      }
    }
    expect(cut).to.have.length(2);
  });
});

function textOf({ json }: ModelEvent): string {
  return json.type === 'content_block_delta' && json.delta.type === 'text_delta' ? json.delta.text : '';
}

const toolOpen = {
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'tool_use', id: 't', name: 'look', input: {} },
} as const;

function repeated<Event>(event: Event, times: number): readonly Event[] {
  return Array.from({ length: times }, () => event);
}

/** The data of a stream without the pings before the commit point; a whole answer has none. */
function committedData(text: string, delivery: 'stream' | 'whole'): readonly string[] {
  const events = withoutEarlyPings(sentEvents(text));
  return events.filter(({ event }) => event !== 'ping' || delivery === 'stream').map(({ data }) => data);
}

async function dataOf(events: ModelEvents): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const batch of events) texts.push(...batch.map(({ data }) => data));
  return texts;
}
