import { expect } from 'chai';
import {
  EventStream,
  foldMessage,
  GatewayError,
  ModelEvent,
  type MessagesRequest,
  type MessagesStreamEvent,
  type ModelEventBatch,
  type ModelReply,
} from '@gw2api/gateway/plugin';
import { eventsOf, fakeHost, messageEvents, replyOf, runStage } from '@gw2api/gateway/testing';
import remote from '#plugins/remote/index.js';
import { eventually } from '../../eventually.js';
import { serveRemote, type Answerer, type Question, type Service } from './service.js';

const request: MessagesRequest = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };

/** Text deltas of one block, each in a read of its own. */
function texts(...pieces: readonly string[]): readonly MessagesStreamEvent[] {
  const events = messageEvents({ text: '' }).filter(({ type }) => type !== 'content_block_delta');
  const deltas = pieces.map(
    (text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }) as const,
  );
  return [...events.slice(0, 2), ...deltas, ...events.slice(2)];
}

function textIn({ body }: Question): string {
  const events = body.events as readonly { readonly delta?: { readonly text?: string } }[];
  return events.map(({ delta }) => delta?.text ?? '').join('');
}

const calls = {
  type: 'tool_use',
  id: 't1',
  name: 'look',
  input: { to: 'Jo' },
} as const;

describe('remote, asked about answers,', () => {
  const services: Service[] = [];

  afterEach(async () => {
    for (const service of services.splice(0)) await service.close();
  });

  async function run(
    answer: Answerer,
    options: Readonly<Record<string, unknown>>,
    events: EventStream = eventsOf(...messageEvents()),
  ) {
    const service = await serveRemote(answer);
    services.push(service);
    const host = fakeHost({ name: 'dlp' });
    const batches: (readonly string[])[] = [];
    let ending: unknown;
    let reply: ModelReply | undefined;
    const result = await runStage(remote, {
      host,
      options: { url: service.url, ...options },
      state: { request, requestId: 'r1', delivery: 'stream' },
      call: async () => replyOf(events),
      async below(ctx) {
        reply = ctx.state.reply as ModelReply;
        try {
          for await (const batch of reply.events) batches.push(batch.map(({ data }) => data));
        } catch (error) {
          ending = error;
        }
      },
    });
    await host.dispose();
    const passed = batches.flat().map((data) => JSON.parse(data) as MessagesStreamEvent);
    return { ...result, host, passed, ending, questions: service.questions };
  }

  const folded = (passed: readonly MessagesStreamEvent[]) => foldMessage(eventsOf(...passed));

  describe('as a whole', () => {
    const on = { on: ['answer'] };

    it('sends content, stop reason and usage, with the request', async () => {
      const { questions, passed } = await run(() => ({ verdict: 'allow' }), on);
      expect(questions[0]!.body).to.deep.include({
        phase: 'answer',
        request: { messages: request.messages },
        answer: {
          content: [{ type: 'text', text: 'Hello.' }],
          stop_reason: 'end_turn',
          usage: { input_tokens: 10, output_tokens: 5 },
        },
      });
      expect(passed).to.deep.equal(messageEvents());
    });

    it('changes a block, and keeps the events of all others', async () => {
      const content = [{ type: 'text', text: 'One.' }, calls] as const;
      const { passed } = await run(
        () => ({ verdict: 'change', content: [content[0], { ...calls, input: { to: '***' } }] }),
        on,
        eventsOf(...messageEvents({ content, stopReason: 'tool_use' })),
      );
      const answer = await folded(passed);
      expect(answer.content).to.deep.equal([content[0], { ...calls, input: { to: '***' } }]);
      expect(answer).to.include({ stop_reason: 'tool_use' });
      expect(answer.usage).to.include({ output_tokens: 5 });
    });

    it('ends without tool_use where the last call is taken out', async () => {
      const { passed } = await run(
        () => ({ verdict: 'change', content: [{ type: 'text', text: 'No.' }] }),
        on,
        eventsOf(...messageEvents({ content: [calls], stopReason: 'tool_use' })),
      );
      expect(await folded(passed)).to.include({ stop_reason: 'end_turn' });
    });

    it('refuses it, with its usage', async () => {
      const { passed } = await run(() => ({ verdict: 'refuse', message: 'Not that.' }), on);
      expect(await folded(passed)).to.deep.include({
        stop_reason: 'refusal',
        content: [{ type: 'text', text: 'Not that.' }],
      });
    });

    it('fails for content that is not valid', async () => {
      const { error } = await run(() => ({ verdict: 'change', content: [{ type: 'text' }] }), on);
      expect(String(error)).to.include('content[0].text: is required');
      expect(error).to.have.property('code', 'stage_failed');
    });

    it('fails for one that is too long, and asks nothing', async () => {
      const { error, questions } = await run(
        () => ({ verdict: 'allow' }),
        { ...on, answer: 400 },
        eventsOf(...texts('a'.repeat(300), 'b'.repeat(300))),
      );
      expect(String(error)).to.include('the answer is longer than 400 bytes (with.answer)');
      expect(questions).to.have.length(0);
    });

    it('passes on the failure of the call, and asks nothing', async () => {
      const broken = new GatewayError('upstream_interrupted', 'It broke.');
      const { error, questions } = await run(
        () => ({ verdict: 'allow' }),
        on,
        eventsOf(...texts('a').slice(0, 3), broken),
      );
      expect(error).to.equal(broken);
      expect(questions).to.have.length(0);
    });
  });

  describe('by their events', () => {
    const on = { on: ['events'], chunk: { chars: 4, after: '1h' } };

    it('gathers them, asks one question after another, and passes them on as they came', async () => {
      const { questions, passed } = await run(
        ({ body }) => ({ verdict: 'allow', state: { seen: body.seq } }),
        on,
        eventsOf(...texts('ab', 'cd', 'ef', 'gh', 'i')),
      );
      expect(passed).to.deep.equal(texts('ab', 'cd', 'ef', 'gh', 'i'));
      expect(questions.map(({ body }) => [body.seq, body.last, body.state])).to.deep.equal(
        questions.map((_, at) => [at, at === questions.length - 1, at === 0 ? null : { seen: at - 1 }]),
      );
      expect(questions.map(textIn).join('')).to.equal('abcdefghi');
      expect(questions[0]!.body).to.have.property('request');
      expect(questions[1]!.body).to.not.have.property('request');
    });

    it('asks about less after a time', async () => {
      const stream = new Held(texts('ab').slice(0, 3));
      const { questions, passed } = await run(
        () => {
          stream.send(...texts('ab').slice(3));
          return { verdict: 'allow' };
        },
        { on: ['events'], chunk: { chars: 400, after: '10ms' } },
        stream.events,
      );
      expect(questions.map(({ body }) => body.last)).to.deep.equal([false, true]);
      expect(passed).to.deep.equal(texts('ab'));
    });

    it('sends held events again, before the new ones', async () => {
      const { questions, passed } = await run(
        (question) => ({ verdict: textIn(question).endsWith('sec') ? 'hold' : 'allow' }),
        { on: ['events'], chunk: { chars: 3, after: '1h' } },
        eventsOf(...texts('sec', 'ret')),
      );
      expect(questions.map(textIn).slice(0, 2)).to.deep.equal(['sec', 'secret']);
      expect(passed).to.deep.equal(texts('sec', 'ret'));
    });

    it('replaces them, and keeps those that are sent back', async () => {
      const { passed } = await run(
        ({ body }) => ({
          verdict: 'change',
          events: (body.events as readonly MessagesStreamEvent[]).map((event) =>
            event.type === 'content_block_delta'
              ? { ...event, delta: { type: 'text_delta', text: '***' } }
              : event,
          ),
        }),
        on,
        eventsOf(...texts('abcd', 'efgh')),
      );
      expect((await folded(passed)).content).to.deep.equal([{ type: 'text', text: '******' }]);
    });

    it('refuses the rest, within the text that has gone out', async () => {
      const stream = new Held(texts('good').slice(0, 3));
      const { passed } = await run(
        (question) => {
          if (textIn(question).includes('evil')) return { verdict: 'refuse', message: 'Not that.' };
          stream.send(texts('evil')[2]!);
          return { verdict: 'allow' };
        },
        on,
        stream.events,
      );
      expect(await folded(passed)).to.deep.include({
        content: [{ type: 'text', text: 'good' }],
        stop_reason: 'refusal',
        stop_details: { type: 'refusal', explanation: 'Not that.' },
      });
      stream.send(); // its read of the source ends
      await eventually(() => stream.isCancelled);
    });

    it('refuses all of it, with a text', async () => {
      const { passed } = await run(() => ({ verdict: 'refuse' }), on, eventsOf(...texts('evil')));
      expect(await folded(passed)).to.deep.include({
        content: [{ type: 'text', text: 'Refused by a rule of this gateway.' }],
        stop_reason: 'refusal',
      });
    });

    for (const lost of ['end', 'pass'] as const)
      it(`after a later failure ${lost === 'end' ? 'ends' : 'passes the rest on'}`, async () => {
        const { passed, ending, host } = await run(
          ({ body }) => ({ verdict: body.seq === 0 ? 'allow' : 'no' }),
          { ...on, lost },
          eventsOf(...texts('abcd', 'efgh')),
        );
        const isEnd = lost === 'end';
        expect(passed).to.deep.equal(isEnd ? texts('abcd', 'efgh').slice(0, 3) : texts('abcd', 'efgh'));
        expect((ending as Partial<GatewayError> | undefined)?.code).to.equal(
          isEnd ? 'stage_failed' : undefined,
        );
        expect(host.logged.map(({ message }) => message)).to.deep.equal(
          isEnd ? [] : ['A remote stage failed; the rest of the answer passed on unreviewed.'],
        );
      });

    const grammar: Readonly<Record<string, readonly [events: readonly object[], message: string]>> = {
      'a block that is not open': [
        [...texts().slice(0, 1), { type: 'content_block_stop', index: 3 }],
        'events: block 3 is not open',
      ],
      'two starts': [[texts()[0]!, texts()[0]!], 'events: message_start stands twice'],
      'arguments in a text': [
        [
          ...texts().slice(0, 2),
          { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{' } },
        ],
        'events: a text block takes no input_json_delta',
      ],
      'an error': [[{ type: 'error', error: { type: 'x', message: 'x' } }], 'events[0].type: must be'],
      'an event that is not valid': [
        [{ type: 'content_block_delta', index: 'x' }],
        'events[0]: is not a valid content_block_delta',
      ],
      'no end': [texts().slice(0, 2), 'events: the last ones must end with message_stop'],
    };
    for (const [what, [events, message]] of Object.entries(grammar))
      it(`fails for ${what}`, async () => {
        const { error } = await run(() => ({ verdict: 'change', events }), { on: ['events'] });
        expect(String(error)).to.include(message);
      });

    it('fails where more is held than the option allows, and where the last events are held', async () => {
      const much = await run(
        () => ({ verdict: 'hold' }),
        { ...on, hold: 400 },
        eventsOf(...texts('a'.repeat(400))),
      );
      expect(String(much.error)).to.include('verdict: more than 400 bytes of events are held');
      const last = await run(() => ({ verdict: 'hold' }), { on: ['events'] });
      expect(String(last.error)).to.include('verdict: the last events cannot be held');
    });

    it('reports how an answer has broken off, after a last question about what came', async () => {
      const broken = new GatewayError('upstream_interrupted', 'It broke.');
      const { passed, ending, questions } = await run(
        () => ({ verdict: 'allow' }),
        on,
        eventsOf(...texts('abcd', 'e').slice(0, 4), broken),
      );
      expect(passed).to.deep.equal(texts('abcd', 'e').slice(0, 4));
      expect(ending).to.equal(broken);
      expect(questions.at(-1)!.body).to.have.property('last', true);
    });

    it('reads no more than it may hold while a question is open', async () => {
      let read = 0;
      const events = texts(...Array.from({ length: 200 }, () => 'x'.repeat(100)));
      async function* counted(): AsyncGenerator<ModelEventBatch> {
        for (const event of events) {
          read += 1;
          yield [ModelEvent.of(event)];
        }
      }
      let readAtFirst = 0;
      const { passed } = await run(
        ({ body }) => {
          if (body.seq > 0) return { verdict: 'allow' };
          return (to) =>
            void setImmediate(() => {
              readAtFirst = read;
              to.end('{"version":1,"verdict":"allow"}');
            });
        },
        { on: ['events'], chunk: { chars: 1 }, hold: 2000 },
        EventStream.from(counted()),
      );
      expect(readAtFirst).to.be.within(3, 40);
      expect(passed).to.deep.equal(events);
    });

    it('loses no event, whatever is held and however they are split', async () => {
      for (let seed = 0; seed < 20; seed += 1) {
        const pieces = Array.from({ length: 30 }, (_, at) =>
          `${(at * 7 + seed) % 10}`.repeat((at * seed) % 5),
        );
        const { passed } = await run(
          ({ body }) => ({ verdict: (body.seq + seed) % 3 === 0 && !body.last ? 'hold' : 'allow' }),
          { on: ['events'], chunk: { chars: 1 + (seed % 7), after: '1ms' } },
          eventsOf(...texts(...pieces)),
        );
        expect(passed).to.deep.equal(texts(...pieces));
      }
    });
  });

  describe('beside them (audit)', () => {
    it('passes requests and answers on, whatever the verdicts are, and counts these', async () => {
      for (const on of ['answer', 'events']) {
        const counted: object[] = [];
        const service = await serveRemote(({ body }) => ({
          verdict: body.phase === 'request' ? 'deny' : 'refuse',
        }));
        services.push(service);
        const base = fakeHost();
        const counter = () => ({ add: (labels: object) => void counted.push(labels) });
        const host = fakeHost({ name: 'dlp', metrics: { ...base.metrics, counter } });
        let answer: unknown;
        const { status } = await runStage(remote, {
          host,
          options: { url: service.url, on: ['request', on], audit: true },
          state: { request, requestId: 'r1', delivery: 'stream' },
          call: async () => replyOf(eventsOf(...messageEvents())),
          async below(ctx) {
            answer = await foldMessage((ctx.state.reply as ModelReply).events);
          },
        });
        expect(status).to.equal(204);
        expect(answer).to.include({ stop_reason: 'end_turn' });
        await host.dispose();
        expect(counted).to.have.deep.members([
          { stage: 'dlp', phase: 'request', result: 'deny' },
          { stage: 'dlp', phase: on, result: 'refuse' },
        ]);
      }
    });
  });
});

/** Stream whose events are sent later. */
class Held {
  readonly #waiting: (readonly MessagesStreamEvent[])[] = [];
  #wake: () => void = () => undefined;
  isCancelled = false;
  readonly events = EventStream.from(this.#read());

  constructor(first: readonly MessagesStreamEvent[]) {
    this.#waiting.push(first);
  }

  send(...events: readonly MessagesStreamEvent[]): void {
    this.#waiting.push(events);
    this.#wake();
  }

  async *#read(): AsyncGenerator<ModelEventBatch> {
    try {
      for (;;) {
        const next = this.#waiting.shift();
        if (next) yield next.map((event) => ModelEvent.of(event));
        else await new Promise<void>((resolve) => (this.#wake = resolve));
        if (next?.at(-1)?.type === 'message_stop') return;
      }
    } finally {
      this.isCancelled = true;
    }
  }
}
