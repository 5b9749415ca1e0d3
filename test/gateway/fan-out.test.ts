import { expect } from 'chai';
import { eventsIn, slotAt, stages, startPair, type Pair } from './harness.js';
import { callsTo, errorIn, inFlight } from './kit.js';

describe('fan-out', () => {
  let pair: Pair;
  afterEach(() => pair.close());

  const chat = (n: number, fields: object = {}) => ({
    model: 'sonnet-5',
    n,
    messages: [{ role: 'user', content: '[[sim:tokens n=12]]' }],
    ...fields,
  });

  /** A slot that takes so many calls at once. */
  function startWithPlaces(maxConcurrent: number): Promise<Pair> {
    const pipeline = stages({ with: { 'slot-pick': { queueTimeout: '2s' } } });
    return startPair({ pipeline }, {}, (url) => [slotAt(url, { maxConcurrent })]);
  }

  it('takes a place for each call, and gives all back', async () => {
    pair = await startWithPlaces(8);
    let most = 0;
    pair.simulator.faults.push('slow ms=1');
    const sending = pair.post('/v1/chat/completions', chat(4));
    for (let seen = 0; seen < 4; seen += 1) {
      await pair.simulator.nextRequest(({ path }) => path === '/v1/messages');
      most = Math.max(most, ...inFlight(pair));
    }
    await (await sending).json();
    await pair.gateway.exchanges.idle();
    expect(most).to.equal(4);
    expect(inFlight(pair)).to.deep.equal([0]);
  });

  for (const stream of [true, false]) {
    it(`gets by with fewer places than calls (stream: ${stream})`, async () => {
      pair = await startWithPlaces(1);
      const response = await pair.post('/v1/chat/completions', chat(3, { stream }));
      expect(response.status).to.equal(200);
      const text = await response.text();
      if (stream) {
        const chunks = eventsIn(text).slice(0, -1) as {
          choices: { index: number; finish_reason: unknown }[];
        }[];
        const ended = chunks.flatMap(({ choices }) => choices).filter((choice) => choice.finish_reason);
        expect(ended.map(({ index }) => index).toSorted((one, other) => one - other)).to.deep.equal([
          0, 1, 2,
        ]);
        expect(text).to.match(/data: \[DONE\]\n\n$/);
      } else {
        const { choices } = JSON.parse(text) as { choices: readonly { message: { content: string } }[] };
        expect(choices.map(({ message }) => message.content)).to.deep.equal(
          Array.from({ length: 3 }, () => ' tok'.repeat(12)),
        );
      }
      await pair.gateway.exchanges.idle();
      expect(inFlight(pair)).to.deep.equal([0]);
    });

    it(`of two requests does not wait for itself (stream: ${stream})`, async () => {
      pair = await startWithPlaces(2);
      pair.simulator.faults.push('slow ms=1');
      const answers = await Promise.all(
        [1, 2, 3].map(() => pair.post('/v1/chat/completions', chat(2, { stream }))),
      );
      for (const answer of answers) {
        expect(answer.status).to.equal(200);
        await answer.text();
      }
      expect(callsTo(pair.simulator)).to.have.length(6);
    });

    it(`that fails in one call ends the others and is one error (stream: ${stream})`, async () => {
      pair = await startWithPlaces(8);
      pair.simulator.faults.push('400 times=1', 'slow ms=5');
      const response = await pair.post('/v1/chat/completions', chat(3, { stream }));
      expect(await errorIn(response)).to.include({ status: 400 });
      await pair.gateway.exchanges.idle();
      expect(inFlight(pair)).to.deep.equal([0]);
      const others = callsTo(pair.simulator).filter(({ status }) => status !== 400);
      for (const { closed } of others) expect(await closed).to.equal('aborted');
    });
  }

  it('adds usage up, the same in a stream', async () => {
    pair = await startWithPlaces(8);
    type Counted = { usage: { completion_tokens: number; prompt_tokens: number } | null };
    const whole = (await (await pair.post('/v1/chat/completions', chat(3))).json()) as Counted;
    const options = { stream: true, stream_options: { include_usage: true } };
    const chunks = eventsIn(await (await pair.post('/v1/chat/completions', chat(3, options))).text());
    const { usage } = chunks.at(-2) as Counted;
    expect(whole.usage!.completion_tokens).to.equal(36);
    expect(usage!.completion_tokens).to.equal(36);
  });

  it('of several prompts answers each in its place', async () => {
    pair = await startWithPlaces(8);
    const prompt = ['one', 'two', 'three'];
    const response = await pair.post('/v1/completions', { model: 'sonnet-5', prompt, n: 2 });
    const { choices } = (await response.json()) as { choices: readonly { index: number; text: string }[] };
    expect(choices.map(({ text }) => /You said: (\w+)/.exec(text)?.[1])).to.deep.equal(
      prompt.flatMap((text) => [text, text]),
    );
  });
});
