import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { ModelEventBatch, ModelEvents } from '@gw2api/gateway/plugin';
import { formats, type FormatName } from '../../../support/formats.js';
import {
  broken,
  contextOf,
  fixtureNames,
  folder,
  replyOf,
  streamed,
} from '../../../plugins/formats/streams.js';
import { aCall, eventStream, Kit } from '../../../engine/transport/upstream-kit.js';
import { dialects, formatNames, timeless } from '../dialects.js';
import { each } from './each.js';
import { slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { promptOf, startReplay, type Answer, type Replay } from './replay.js';

const recordings = fixtureNames().length === 0 ? [] : [...fixtureNames(), ...broken];

const bytesOf = new Map(recordings.map((name) => [name, readFileSync(join(folder, `${name}.sse`))]));

/** The same events in other words, in pieces of odd sizes. */
function reworded(change: (sse: string) => string): (bytes: Buffer) => Answer {
  return (bytes) => ({ pieces: cut(Buffer.from(change(bytes.toString())), [7, 300, 1, 41, 2, 160]) });
}

const framings: Readonly<Record<string, (bytes: Buffer) => Answer>> = {
  'CR LF': reworded((sse) => sse.replaceAll('\n', '\r\n')),
  CR: reworded((sse) => sse.replaceAll('\n', '\r')),
  'a byte order mark': reworded((sse) => `\uFEFF${sse}`),
  comments: reworded((sse) => `: hello\n\n${sse.replaceAll('\ndata: ', '\n: a comment\nid: 7\ndata: ')}`),
  'no space after the colon': reworded((sse) => sse.replaceAll(/^(event|data): /gm, '$1:')),
  'no event lines': reworded((sse) => sse.replaceAll(/^event: .*\n/gm, '')),
  'a [DONE] at the end': reworded((sse) => `${sse}data: [DONE]\n\n`),
  'a content-encoding': (bytes) => ({
    headers: { 'content-encoding': 'gzip' },
    pieces: cut(gzipSync(bytes), [1, 7, 500]),
  }),
};

const pieceSizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 12 });

/** Pieces of these sizes, over and over, but few enough for a test that is quick. */
function cut(bytes: Buffer, sizes: readonly number[]): readonly Buffer[] {
  const stride = Math.max(1, Math.floor(bytes.length / 20_000));
  const pieces: Buffer[] = [];
  for (let at = 0, nth = 0; at < bytes.length; nth += 1) {
    const size = sizes[nth % sizes.length]! * stride;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

describe('a recorded stream, however its bytes arrive,', function () {
  this.timeout(30_000);
  const answers = new Map<string, Answer>();
  let replay: Replay;
  let gateway: GatewayUnderTest;
  /** What each format makes of each recording that arrives in one piece. */
  const expected = new Map<string, string>();

  before(async function () {
    if (recordings.length === 0) this.skip();
    for (const [name, bytes] of bytesOf) answers.set(name, { pieces: [bytes] });
    replay = await startReplay((received) => answers.get(promptOf(received)));
    gateway = await startGateway({
      slots: [slotAt(replay.url)],
      pipeline: stages({ without: ['persona-inject', 'web-search-tool'] }),
    });
    for (const format of formatNames)
      await each(recordings, String, async (name) => {
        expected.set(format + name, await ask(format, name));
      });
  });
  after(() => gateway?.close());
  after(() => replay?.close());

  async function ask(format: FormatName, prompt: string): Promise<string> {
    const { path, request } = dialects[format];
    const response = await gateway.post(path, { ...request(prompt), stream: true });
    return timeless(await response.text());
  }

  /** Asks for each recording, sent as `answer` says, and expects what came of it in one piece. */
  async function check(
    formatOf: (nth: number) => FormatName,
    answer: (bytes: Buffer) => Answer,
  ): Promise<void> {
    await each(
      [...recordings.entries()],
      ([, name]) => name,
      async ([nth, name]) => {
        const format = formatOf(nth);
        const prompt = `${name} for ${format}`;
        answers.set(prompt, answer(bytesOf.get(name)!));
        expect(await ask(format, prompt)).to.equal(expected.get(format + name));
      },
    );
  }

  for (const format of formatNames)
    it(`gives one ${format} stream for every split of a sample`, async () => {
      for (const sizes of fc.sample(pieceSizes, { seed: 20_261_103, numRuns: 2 }))
        await check(
          () => format,
          (bytes) => ({ pieces: cut(bytes, sizes) }),
        );
    });

  for (const [at, [name, send]] of Object.entries(framings).entries())
    it(`gives the same stream with ${name}, in Messages and in one of the other formats`, async () => {
      await check(() => 'messages', send);
      await check((nth) => formatNames[1 + ((nth + at) % 3)]!, send);
    });

  it('reaches the caller piece by piece', async () => {
    answers.set('in pieces', { pieces: cut(bytesOf.get('thinking-many-deltas')!, [200]) });
    const body = { ...dialects.messages.request('in pieces'), stream: true };
    const response = await gateway.post('/v1/messages', body);
    let reads = 0;
    for await (const _ of response.body!) reads += 1;
    expect(reads).to.be.greaterThan(10);
  });

  it('gives the same streams byte by byte', async () => {
    const short = recordings.filter((name) => bytesOf.get(name)!.length < 2000);
    for (const format of formatNames)
      await each(short, String, async (name) => {
        const prompt = `${name} bytewise`;
        answers.set(prompt, { pieces: cut(bytesOf.get(name)!, [1]) });
        expect(await ask(format, prompt)).to.equal(expected.get(format + name));
      });
  });
});

describe('a short recorded stream', function () {
  this.timeout(30_000);
  const kit = new Kit();
  const short = recordings.filter((name) => bytesOf.get(name)!.length < 1100);
  afterEach(() => kit.close());

  if (short.length === 0) it('gives the same streams for every split in two'); // pending: there are no recordings

  for (const name of short)
    it(`gives the same streams for every split in two: ${name}`, async () => {
      const bytes = bytesOf.get(name)!;
      const url = await kit.serve(async (request, response) => {
        const at = Number(request.headers['x-split']);
        response.writeHead(200, eventStream).flushHeaders();
        await setImmediate();
        response.write(bytes.subarray(0, at));
        await setImmediate();
        response.end(bytes.subarray(at));
      });
      const upstream = await kit.open(url);
      const { texts: expected } = await allFormats(await upstream.generate(splitAt(0)));
      const places = Array.from({ length: bytes.length }, (_, at) => at);
      let readTwice = 0;
      await each(places, String, async (at) => {
        const { texts, reads } = await allFormats(await upstream.generate(splitAt(at)));
        expect(texts).to.deep.equal(expected);
        if (reads > 1) readTwice += 1;
      });
      // A first part without a whole event is no read of its own.
      expect(readTwice).to.be.greaterThan((bytes.length - bytes.indexOf('\n\n')) / 2);
    });
});

function splitAt(at: number) {
  return aCall({ headers: { 'x-split': String(at) } });
}

/** What each format makes of the same batches. */
async function allFormats({ events }: { events: ModelEvents }) {
  const batches: ModelEventBatch[] = [];
  let failure: Error | undefined;
  try {
    for await (const batch of events) batches.push(batch);
  } catch (error) {
    failure = error as Error; // the upstream throws nothing else
  }
  const reply = () =>
    replyOf(
      batches.flat(),
      batches.map(({ length }) => length),
      failure,
    );
  const texts = formatNames.map(async (format) => {
    const { text } = await streamed(formats[format], dialects[format].request('Hi'), reply(), contextOf());
    return timeless(text);
  });
  return { texts: await Promise.all(texts), reads: batches.length };
}
