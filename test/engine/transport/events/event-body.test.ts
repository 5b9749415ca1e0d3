import { expect } from 'chai';
import { isGatewayError, ModelEvent, type ModelEventBatch } from '@gw2api/gateway/plugin';
import { EventBody } from '#src/engine/transport/events/event-body.js';
import { TranslatedReader } from '#src/engine/transport/events/translated-reader.js';
import { ManualClock } from '@gw2api/gateway/testing';
import {
  Kit,
  aCall,
  answer,
  closing,
  collect,
  eventStream,
  later,
  rejection,
  sse,
  turn,
} from '../upstream-kit.js';

const quietFlow = { resume() {}, finish() {}, abort() {} };

describe('EventBody', () => {
  it('throws what the error event says, though the body ends in the same read', async () => {
    const body = new EventBody(quietFlow);
    const events: AsyncIterator<ModelEventBatch> = body.events[Symbol.asyncIterator]();
    body.write(Buffer.from(answer.start));
    expect((await events.next()).done).to.equal(false);
    const next = events.next();
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Too much.' } };
    body.write(Buffer.from(sse(overloaded)));
    body.end(new Error('The socket closed.'));
    const types = ((await next).value as ModelEventBatch).map(({ type }) => type);
    expect(types).to.deep.equal(['error']);
    const error = await rejection(events.next());
    expect(isGatewayError(error) && error.message).to.equal('Too much.');
  });

  it('reads the text that is made of the bytes of each read, where they are frames', async () => {
    const hidden = (text: string) => Buffer.from(text).map((byte) => byte ^ 0xff);
    const body = new EventBody(quietFlow, {
      unframe: (bytes) => Buffer.from(bytes.map((byte) => byte ^ 0xff)),
    });
    for (const part of [answer.start, answer.delta('Hello.'), answer.stop])
      body.write(Buffer.from(hidden(part)));
    const types: string[] = [];
    for await (const batch of body.events) types.push(...batch.map(({ type }) => type));
    expect(types).to.deep.equal([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_stop',
    ]);
  });

  it('ends an answer that lacks its formal end in time, however many comments keep the connection alive', async () => {
    const clock = new ManualClock();
    const translator = {
      isOver: false,
      settlesInMs: undefined as number | undefined,
      read(data: string, _: string | undefined, events: ModelEvent[]): void {
        events.push(new ModelEvent('ping', data));
        this.settlesInMs = 2000;
      },
      finish: (events: ModelEvent[]): void => void events.push(new ModelEvent('message_stop', '{}')),
    };
    const body = new EventBody(quietFlow, { reader: new TranslatedReader(translator), clock });
    const collected = collect(body.events);
    body.write(Buffer.from('data: {}\n\n'));
    for (let passedMs = 0; passedMs < 2000; passedMs += 500) {
      body.write(Buffer.from(': PROCESSING\n\n'));
      clock.pass(500);
    }
    expect((await collected).events.map(({ type }) => type)).to.deep.equal(['ping', 'message_stop']);
  });

  it('fails with what is thrown about frames, after the events before it, and ends the call', async () => {
    let isAborted = false;
    const abort = (): void => {
      isAborted = true;
    };
    const unframe = (bytes: Buffer): Buffer => {
      if (bytes.length === 0) throw new Error('That is no frame.');
      return bytes;
    };
    const body = new EventBody({ ...quietFlow, abort }, { unframe });
    body.write(Buffer.from(answer.start));
    body.write(Buffer.alloc(0));
    body.write(Buffer.from(answer.stop));
    body.end();
    const { events, error } = await collect(body.events);
    expect(events.map(({ type }) => type)).to.deep.equal(['message_start']);
    expect(error).to.include({ message: 'That is no frame.' });
    expect(isAborted).to.equal(true);
  });

  it('gives what comes, with the end of it, while it lets the upstream go on', async () => {
    const start = answer.start.slice(0, 100);
    let rest = answer.start.slice(100) + answer.delta('Hello.') + answer.stop;
    const body: EventBody = new EventBody({
      ...quietFlow,
      resume() {
        if (rest === '') return;
        const text = rest;
        rest = '';
        body.write(Buffer.from(text));
        body.end();
      },
    });
    body.write(Buffer.from(start));
    const types: string[] = [];
    for await (const batch of body.events) types.push(...batch.map(({ type }) => type));
    expect([types.at(0), types.at(-1)]).to.deep.equal(['message_start', 'message_stop']);
  });

  it('does not pause the rest of a body whose last event found the reader full', () => {
    const body = new EventBody(quietFlow);
    expect(body.write(Buffer.from(answer.start))).to.equal(true);
    expect(body.write(Buffer.from(answer.delta('Hello.') + answer.stop))).to.equal(true);
  });

  it('lets go of the connection of an answer that was complete before it was read', async () => {
    const kit = new Kit();
    const { promise: ended, resolve } = later<{ closed: Promise<void> }>();
    const url = await kit.serve(async ({ socket }, response) => {
      const closed = closing(socket);
      response.writeHead(200, eventStream);
      for (const part of [answer.start, answer.delta('Hello.') + answer.stop, 'data: [DONE]\n\n']) {
        response.write(part);
        await turn();
      }
      resolve({ closed });
    });
    const { events } = await (await kit.open(url)).generate(aCall());
    const { closed } = await ended;
    expect((await collect(events)).error).to.equal(undefined);
    await closed;
    await kit.close();
  });

  it('pauses the upstream while nobody reads, and drops it when the reader leaves', () => {
    let aborts = 0;
    const body = new EventBody({ ...quietFlow, abort: () => (aborts += 1) });
    expect(body.write(Buffer.from(answer.start))).to.equal(true);
    expect(body.write(Buffer.from(answer.delta('Hello.')))).to.equal(false);
    body.events.cancel();
    expect(aborts).to.equal(1);
  });
});
