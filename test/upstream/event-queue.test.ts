import { expect } from 'chai';
import { isGatewayError } from 'gw2api/plugin';
import { EventQueue } from '#src/upstream/event-queue.js';
import { answer, rejection, sse } from './upstream-kit.js';

const quietFlow = { resume() {}, finish() {}, abort() {} };

describe('EventQueue', () => {
  it('throws what the error event says, though the body ends in the same read', async () => {
    const queue = new EventQueue(quietFlow);
    queue.write(Buffer.from(answer.start));
    expect((await queue.next()).done).to.equal(false);
    const next = queue.next();
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Too much.' } };
    queue.write(Buffer.from(sse(overloaded)));
    queue.end(new Error('The socket closed.'));
    expect((await next).value?.map(({ type }) => type)).to.deep.equal(['error']);
    const error = await rejection(queue.next());
    expect(isGatewayError(error) && error.message).to.equal('Too much.');
  });

  it('gives what comes, with the end of it, while it lets the upstream go on', async () => {
    const start = answer.start.slice(0, 100);
    let rest = answer.start.slice(100) + answer.delta('Hello.') + answer.stop;
    const queue: EventQueue = new EventQueue({
      ...quietFlow,
      resume() {
        if (rest === '') return;
        const text = rest;
        rest = '';
        queue.write(Buffer.from(text));
        queue.end();
      },
    });
    queue.write(Buffer.from(start));
    const types: string[] = [];
    for await (const batch of queue) types.push(...batch.map(({ type }) => type));
    expect([types.at(0), types.at(-1)]).to.deep.equal(['message_start', 'message_stop']);
  });
});
