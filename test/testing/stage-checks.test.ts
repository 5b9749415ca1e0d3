import { expect } from 'chai';
import { definePlugin, EventStream, foldMessage, ModelEvent, type Plugin } from '@gw2api/gateway/plugin';
import { messageEvents, stageChecks } from '@gw2api/gateway/testing';

/** Names of the rules that a stage breaks in a stream and in a whole answer, without the formats. */
async function broken(plugin: Plugin): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const { name, run } of stageChecks({ plugin })) {
    const [, format, rule] = /^(\w+), \w+: (.*)$/.exec(name)!;
    if (format === 'chat') await run().catch(() => names.add(rule!));
  }
  return [...names];
}

const passes = 'passes a request once, and its answer whole';
const keeps = 'changes nothing that it does not name';
const errors = 'lets an error of the stages below through';
const breaks = 'lets a stream that breaks break';
const leaves = 'ends the call when the caller leaves';

describe('stageChecks', () => {
  it('are for each format, streamed and whole', () => {
    const plugin = definePlugin({ name: 'mine', setup: () => (_, next) => next() });
    const names = stageChecks({ plugin }).map(({ name }) => name);
    expect(names).to.have.length(4 * 2 * 5);
    expect(names).to.include(`responses, whole: ${keeps}`);
  });

  it('are kept by a stage that only passes, and by one that intercepts', async () => {
    expect(await broken(definePlugin({ name: 'mine', setup: () => (_, next) => next() }))).to.deep.equal([]);
    const intercept = definePlugin({
      name: 'mine',
      intercepts: true,
      setup: () => ({ intercept: (request, call) => call(request) }),
    });
    expect(await broken(intercept)).to.deep.equal([]);
  });

  it('find a stage that does not go on, or does not wait', async () => {
    const stops = definePlugin({ name: 'mine', setup: () => async () => undefined });
    expect(await broken(stops)).to.include(passes);
    const hurries = definePlugin({
      name: 'mine',
      setup: () => async (_, next) => void next().catch(() => undefined),
    });
    expect(await broken(hurries)).to.include.members([passes, errors]);
  });

  it('find a stage that changes the answer', async () => {
    const plugin = definePlugin({
      name: 'mine',
      requires: ['reply'],
      provides: ['reply'],
      setup: () => async (ctx, next) => {
        const events = EventStream.from(eventsOf('Bye.'));
        ctx.state.reply = { ...ctx.state.reply, events };
        await next();
      },
    });
    expect(await broken(plugin)).to.include(passes);
  });

  it('find a stage that writes where it must not', async () => {
    const inPlace = definePlugin({
      name: 'mine',
      requires: ['request'],
      provides: ['request'],
      setup: () => async (ctx, next) => {
        Object.assign(ctx.state.request, { max_tokens: 1 });
        await next();
      },
    });
    expect(await broken(inPlace)).to.include(keeps);
    const other = definePlugin({
      name: 'mine',
      requires: ['request'],
      setup: () => async (ctx, next) => {
        Object.assign(ctx.state, { request: { ...ctx.state.request } });
        await next();
      },
    });
    expect(await broken(other)).to.include(keeps);
    const added = definePlugin({
      name: 'mine',
      setup: () => async (ctx, next) => {
        Object.assign(ctx.state, { mood: 'good' });
        await next();
      },
    });
    expect(await broken(added)).to.include(keeps);
  });

  it('find a stage that swallows errors', async () => {
    const plugin = definePlugin({
      name: 'mine',
      setup: () => async (_, next) => next().catch(() => undefined),
    });
    expect(await broken(plugin)).to.include(errors);
  });

  it('find a stage that completes a broken stream, and reads on for nobody', async () => {
    const plugin = definePlugin({
      name: 'mine',
      intercepts: true,
      setup: () => ({
        async intercept(request, call) {
          const reply = await call(request);
          return { ...reply, events: EventStream.from(mended(reply.events)) };
        },
      }),
    });
    expect(await broken(plugin)).to.include(breaks);
    const greedy = definePlugin({
      name: 'mine',
      requires: ['reply'],
      provides: ['reply'],
      setup: () => async (ctx, next) => {
        const { reply } = ctx.state;
        const whole = foldMessage(reply.events).catch(() => undefined);
        ctx.state.reply = { ...reply, events: EventStream.from(eventsOf('Hello.', whole)) };
        await next();
      },
    });
    expect(await broken(greedy)).to.include(leaves);
  });
});

async function* eventsOf(text: string, until?: Promise<unknown>) {
  const [first, ...rest] = messageEvents({ text });
  yield [ModelEvent.of(first!)];
  await until;
  for (const event of rest) yield [ModelEvent.of(event)];
}

async function* mended(events: EventStream) {
  try {
    for await (const batch of events) yield batch;
  } catch {
    for (const event of messageEvents().slice(-3)) yield [ModelEvent.of(event)];
  }
}
