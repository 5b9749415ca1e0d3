import { expect } from 'chai';
import { assert, nat, option, property, record } from 'fast-check';
import {
  maskedPart,
  type Additions,
  type GatewayState,
  type MessagesRequest,
  type ModelEvents,
  type ModelReply,
  type Plugin,
  type Usage,
} from '@gw2api/gateway/plugin';
import {
  collectEvents,
  eventsOf,
  fakeHost,
  fakeModels,
  fakeSlot,
  fakeSlots,
  messageEvents,
  replyOf,
  runStage,
  type FakeHost,
} from '@gw2api/gateway/testing';
import usageMask, { without } from '#plugins/usage-mask.js';

describe('usage-mask', () => {
  it('takes the tokens of the additions out of both reports', async () => {
    const { reports } = await mask({ usage: { input_tokens: 100, output_tokens: 1 } });
    expect(reports).to.deep.equal([{ input_tokens: 100 - estimate, output_tokens: 1 }, { output_tokens: 5 }]);
  });

  it('does so in message_delta only where it has the fields', async () => {
    const { reports } = await mask({
      usage: { input_tokens: 100, output_tokens: 1 },
      finalUsage: { input_tokens: 110, output_tokens: 9 },
    });
    expect(reports[1]).to.deep.equal({ input_tokens: 110 - estimate, output_tokens: 9 });
  });

  it('keeps count of what it takes', async () => {
    const { state } = await mask({ usage: { input_tokens: 100, cache_read_input_tokens: 4 } });
    expect(state.trace.usage.masked).to.deep.equal({
      cache_read_input_tokens: 4,
      input_tokens: estimate - 4,
    });
  });

  it('shows the official client what was billed', async () => {
    const host = fakeHost({ isOfficialClient: (agent) => agent.startsWith('vendor-cli/') });
    const usage = { input_tokens: 100, output_tokens: 1 };
    const official = await mask({ usage }, { host, headers: { 'user-agent': 'vendor-cli/1.0' } });
    expect(official.reports[0]).to.deep.equal(usage);
    const other = await mask({ usage }, { host, headers: { 'user-agent': 'curl/8' } });
    expect(other.reports[0]).to.not.deep.equal(usage);
  });

  it('leaves everything as it is where nothing was added', async () => {
    const reply = replyOf();
    const { state } = await run({ reply, additions: { system: [], tools: [] } });
    expect(state.reply).to.equal(reply);
  });

  it('takes nothing for a tool that the upstream was not sent', async () => {
    const tool = { name: 'web_search', type: 'web_search_20250305' };
    const events = () => eventsOf(messageEvents({ usage: { input_tokens: 100, output_tokens: 1 } }));
    const added = { ...additions, tools: [tool] };
    const host = fakeHost();
    const sent = await run({ reply: replyOf(events()), additions: added }, { host });
    const toolTokens = sent.state.trace.usage.masked.input_tokens! - estimate;
    expect(toolTokens).to.be.greaterThan(0);
    const unsent = await run({ reply: replyOf(events(), { leftOut: [tool] }), additions: added }, { host });
    expect(unsent.state.trace.usage.masked).to.deep.equal({ input_tokens: estimate });
    const onlyTool = { system: [], tools: [tool] };
    const none = await run({ reply: replyOf(events(), { leftOut: [tool] }), additions: onlyTool }, { host });
    expect(none.state.trace.usage.masked).to.deep.equal({});
  });

  it('takes as many tokens as the upstream’s own estimate has of them, and asks for no count', async () => {
    const slot = countingSlot();
    const events = eventsOf(messageEvents({ usage: { input_tokens: 100, output_tokens: 1 } }));
    const tool = { name: 'search', input_schema: {} };
    const { state, reports } = await run(
      { reply: replyOf(events, { slot: 'a', addedTokens: 11 }), additions: { ...additions, tools: [tool] } },
      { host: fakeHost({ slots: fakeSlots(slot) }) },
    );
    expect(reports[0]).to.deep.equal({ input_tokens: 89, output_tokens: 1 });
    expect(state.trace.added.tokens).to.deep.equal({ '': 11 });
    expect(slot.calls).to.deep.equal([]);
  });

  it('masks each choice', async () => {
    const events = messageEvents({ usage: { input_tokens: 100, output_tokens: 1 } });
    const { state } = await run({ reply: replyOf(twoChoices(eventsOf(events))) });
    expect(state.trace.usage.masked).to.deep.equal({ input_tokens: 2 * estimate });
  });

  describe('measuring', () => {
    it('asks the slot that answered, once, and uses its count from then on', async () => {
      const slot = countingSlot();
      const host = fakeHost({
        slots: fakeSlots(slot),
        models: fakeModels({ id: 'sonnet-5', upstreamModel: 'vendor-5' }),
      });
      const scaled = await sequence(host, 3);
      expect(scaled).to.deep.equal([estimate, 30, 30]);
      expect(slot.calls.map(({ request }) => request)).to.deep.equal([
        { model: 'vendor-5', messages: [{ role: 'user', content: '.' }], system: additions.system },
        { model: 'vendor-5', messages: [{ role: 'user', content: '.' }] },
      ]);
    });

    it('goes by what the additions say, be they the same objects or not', async () => {
      const [system] = additions.system;
      const tool = { name: 'search', input_schema: {} };
      const added: readonly Additions[] = [
        { system: [system!], tools: [] },
        { system: [system!, system!], tools: [] },
        { system: [system!], tools: [tool] },
        { system: [{ ...system! }], tools: [] },
      ];
      const [once, twice, withTool, again] = await sequence(fakeHost(), 4, (nth) => added[nth]!);
      expect([once, again]).to.deep.equal([estimate, estimate]);
      expect([twice! > estimate, withTool! > estimate]).to.deep.equal([true, true]);
    });

    it('stays with the estimate where the upstream only estimates, or fails, and tries again later', async () => {
      let now = 0;
      const answers = [
        () => {
          throw new Error('down');
        },
        () => ({ inputTokens: 5, estimated: true }),
      ];
      for (const countTokens of answers) {
        const slot = fakeSlot('a', { countTokens });
        const host = fakeHost({ slots: fakeSlots(slot), now: () => now });
        expect(await sequence(host, 2)).to.deep.equal([estimate, estimate]);
        expect(slot.calls).to.have.length(2);
        now += 300_000;
      }
      const slot = fakeSlot('a', { countTokens: answers[1]! });
      const host = fakeHost({ slots: fakeSlots(slot), now: () => (now += 300_000) });
      await sequence(host, 2);
      expect(slot.calls).to.have.length(4);
    });

    it('gives up when the pipeline ends', async () => {
      const slot = countingSlot();
      const host = fakeHost({ slots: fakeSlots(slot) });
      await sequence(host, 1);
      await host.dispose();
      expect(slot.calls[0]!.signal.aborted).to.equal(true);
    });
  });

  describe('maskedPart and without', () => {
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 30,
      cache_creation: { ephemeral_1h_input_tokens: 15, ephemeral_5m_input_tokens: 5 },
      output_tokens: 40,
    };

    it('takes from the cache read, then from the cache written, then from the input', () => {
      expect(maskedPart(usage, 25)).to.deep.equal({ cache_read_input_tokens: 25 });
      expect(maskedPart(usage, 55)).to.deep.equal({
        cache_read_input_tokens: 30,
        cache_creation_input_tokens: 20,
        input_tokens: 5,
      });
    });

    it('takes what was written from the hour first', () => {
      const { cache_creation } = without(usage, { cache_creation_input_tokens: 17 });
      expect(cache_creation).to.deep.equal({ ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 3 });
    });

    it('neither goes below zero nor loses a token, and never touches the output', () => {
      const count = option(nat(1000), { nil: undefined });
      const report = record(
        {
          input_tokens: count,
          cache_read_input_tokens: count,
          cache_creation_input_tokens: count,
          output_tokens: count,
        },
        { requiredKeys: [] },
      );
      assert(
        property(report, nat(3000), (given, tokens) => {
          const left = without(given as Usage, maskedPart(given as Usage, tokens));
          expect(inputOf(left)).to.equal(Math.max(0, inputOf(given as Usage) - tokens));
          expect(left.output_tokens).to.equal(given.output_tokens);
          expect(Object.keys(left)).to.deep.equal(Object.keys(given));
        }),
      );
    });
  });
});

const additions: Additions = { system: [{ type: 'text', text: 'Be kind to everyone.' }], tools: [] };
/** A quarter of the bytes of the additions as JSON. */
const estimate = Math.ceil(JSON.stringify(additions.system).length / 4);
const request: MessagesRequest = { model: 'sonnet-5', messages: [] };

type RunOptions = Omit<NonNullable<Parameters<typeof runStage>[1]>, 'state'>;

/** Reads the reply to its end, as format-encode does. */
async function run(state: Partial<GatewayState>, options: RunOptions = {}) {
  const reports: unknown[] = [];
  const result = await runStage(usageMask, {
    ...options,
    state: { additions, request, ...state },
    async below(ctx) {
      for (const event of await collectEvents((ctx.state as { reply: ModelReply }).reply.events)) {
        if (event.type === 'message_start') reports.push(event.message.usage);
        if (event.type === 'message_delta') reports.push(event.usage);
      }
    },
  });
  return { ...result, reports };
}

function mask(options: Parameters<typeof messageEvents>[0], more: RunOptions = {}) {
  return run({ reply: replyOf(eventsOf(messageEvents(options)), { model: '' }) }, more);
}

/** What one and the same stage takes out of several requests after each other. */
async function sequence(
  host: FakeHost,
  times: number,
  added: (nth: number) => Additions = () => additions,
): Promise<readonly number[]> {
  const setUp = await usageMask.setup({}, host);
  const stage: Plugin = { ...usageMask, setup: () => setUp };
  const taken: number[] = [];
  for (let nth = 0; nth < times; nth += 1) {
    const reply = replyOf(eventsOf(messageEvents({ usage: { input_tokens: 1000 } })), { model: '' });
    const { state } = await runStage(stage, {
      host,
      state: { additions: added(nth), request, reply },
      below: async (ctx) => void (await collectEvents((ctx.state as { reply: ModelReply }).reply.events)),
    });
    taken.push(state.trace.usage.masked.input_tokens ?? 0);
  }
  return taken;
}

/** Seven tokens for a placeholder, thirty for a system prompt. */
function countingSlot() {
  return fakeSlot('a', {
    countTokens: ({ request: { system } }) => ({ inputTokens: system ? 37 : 7, estimated: false }),
  });
}

async function* twoChoices(events: ModelEvents): ModelEvents {
  for await (const batch of events)
    yield [0, 1].flatMap((choice) => batch.map((event) => event.withChoice(choice)));
}

function inputOf(usage: Usage): number {
  const { input_tokens = 0, cache_read_input_tokens, cache_creation_input_tokens } = usage;
  return input_tokens + (cache_read_input_tokens ?? 0) + (cache_creation_input_tokens ?? 0);
}
