import { expect } from 'chai';
import * as fc from 'fast-check';
import { formats, type FormatName } from '../../support/formats.js';
import { EventStream, toGatewayError, type ModelEvent } from '@gw2api/gateway/plugin';
import { foldChat, wholeChat } from './grammar/chat.js';
import { foldCompletions } from './grammar/completions.js';
import { foldMessages } from './grammar/messages.js';
import { checkBroken } from './grammar/broken.js';
import { checkResponses } from './grammar/responses.js';
import { answers, sizes } from './generated.js';
import { broken, codeOf, fixture, fixtureNames, replyOf, streamed, whole } from './streams.js';

const bodies: Readonly<Record<FormatName, object>> = {
  messages: { model: 'asked' },
  chat: { model: 'asked', messages: [], stream_options: { include_usage: true } },
  responses: { model: 'asked', input: 'Hi', store: false, include: ['reasoning.encrypted_content'] },
  completions: { model: 'asked', prompt: 'Hi', stream_options: { include_usage: true } },
};

/** For each format: checks the grammar of a stream and folds it into what the whole answer must be. */
const folds: Readonly<Record<FormatName, (text: string) => unknown>> = {
  messages: foldMessages,
  chat: (text) => foldChat(text, { usage: true }),
  responses: checkResponses,
  completions: (text) => foldCompletions(text, { usage: true }),
};

const names = ['messages', 'chat', 'responses', 'completions'] as const;

async function checkLaw(name: FormatName, events: readonly ModelEvent[]): Promise<void> {
  const { text, error } = await streamed(formats[name], bodies[name], replyOf(events));
  expect(error).to.equal(undefined);
  const folded = withoutIds(await folds[name](text));
  const body = await whole(formats[name], bodies[name], replyOf(events));
  expect(withoutIds(name === 'chat' ? wholeChat(body) : body)).to.deep.equal(folded);
}

/** A response has a new id each time. */
function withoutIds(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/[0-9a-f]{32}/g, 'id'));
}

describe('the four formats', () => {
  const fixtures = fixtureNames();

  for (const name of names) {
    it(`${name}: every recorded stream gives a valid one, whose fold is the whole answer`, async function () {
      if (fixtures.length === 0) this.skip();
      for (const recording of fixtures) await named(recording, () => checkLaw(name, fixture(recording)));
    });

    it(`${name}: any batches give the same text`, async function () {
      if (fixtures.length === 0) this.skip();
      for (const recording of fixtures) {
        const events = fixture(recording);
        const { text } = await streamed(formats[name], bodies[name], replyOf(events));
        await fc.assert(
          fc.asyncProperty(sizes, async (sizes) => {
            const other = await streamed(formats[name], bodies[name], replyOf(events, sizes));
            expect(withoutIds(other.text)).to.equal(withoutIds(text));
          }),
          { seed: 20_261_101, numRuns: 4 },
        );
      }
    });

    it(`${name}: any sequence of blocks gives a valid stream, whose fold is the whole answer`, async () => {
      await fc.assert(
        fc.asyncProperty(answers, (events) => checkLaw(name, events)),
        { seed: 20_261_102, numRuns: 150 },
      );
    });

    it(`${name}: a batch gives one text of whole events`, async function () {
      if (fixtures.length === 0) this.skip();
      const events = fixture('text-then-two-tools');
      const { texts } = await streamed(formats[name], bodies[name], replyOf(events, [3, 5, 2, 9]));
      expect(texts.length).to.be.at.most(5);
      for (const text of texts) expect(text).to.match(/^(event|data): [^]*\n\n$/);
    });

    for (const recording of broken)
      it(`${name}: ${recording} ends with an error and no mark of success`, async function () {
        if (fixtures.length === 0) this.skip();
        const { text, error } = await streamed(formats[name], bodies[name], replyOf(fixture(recording)));
        expect(error).to.have.property('name', 'GatewayError');
        checkBroken[name](text);
        const code = recording.includes('overloaded') ? 'overloaded_error' : 'upstream_interrupted';
        expect(error).to.have.property('code', code);
        expect(await codeOf(whole(formats[name], bodies[name], replyOf(fixture(recording))))).to.equal(code);
      });

    it(`${name}: what is thrown after the answer's end is nobody's trouble`, async () => {
      const [events] = fc.sample(answers, { seed: 1, numRuns: 1 });
      const { text, error } = await streamed(
        formats[name],
        bodies[name],
        replyOf(events!, [1000], new Error('late')),
      );
      expect(error).to.equal(undefined);
      await folds[name](text);
    });

    it(`${name}: what follows the answer's end is passed over, and read to its own end`, async () => {
      const [events] = fc.sample(answers, { seed: 1, numRuns: 1 });
      const reply = replyOf([...events!, ...events!], [events!.length, 1, 1]);
      let isDrained = false;
      const drained = (async function* () {
        yield* reply.events;
        isDrained = true;
      })();
      const { text } = await streamed(formats[name], bodies[name], {
        ...reply,
        events: EventStream.from(drained),
      });
      const { text: alone } = await streamed(formats[name], bodies[name], replyOf(events!));
      expect(withoutIds(text)).to.equal(withoutIds(alone));
      expect(isDrained).to.equal(true);
    });

    it(`${name}: an error of ours that nobody foresaw is told without its text`, async () => {
      const { text, error } = await streamed(
        formats[name],
        bodies[name],
        replyOf([], [], new Error('secret')),
      );
      expect(toGatewayError(error)).to.have.property('code', 'internal');
      expect(text).to.not.contain('secret');
      checkBroken[name](text);
    });
  }
});

/** Says which recording a failure is about. */
async function named(name: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (cause) {
    throw new Error(`${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
