import { expect } from 'chai';
import * as fc from 'fast-check';
import type { FormatName } from '../../../support/formats.js';
import { recordedRequests } from '../../../plugins/formats/contexts.js';
import { checkBroken } from '../../../plugins/formats/grammar/broken.js';
import { foldChat } from '../../../plugins/formats/grammar/chat.js';
import { foldCompletions } from '../../../plugins/formats/grammar/completions.js';
import { checkResponses } from '../../../plugins/formats/grammar/responses.js';
import { sentEvents } from '../../../plugins/formats/streams.js';
import { answer, sse } from '../../../engine/transport/upstream-kit.js';
import { dialects, formatNames } from '../dialects.js';
import {
  masterKey,
  slotAt,
  stages,
  startGateway,
  startPair,
  type GatewayUnderTest,
  type Pair,
} from '../../harness.js';
import { mutatedJson, mutations } from './mutations.js';
import { promptOf, startReplay, type Answer, type Replay } from '../recorded/replay.js';
import { brokenStreams } from './broken-streams.js';

// To look further than the usual run does: FUZZ_SEED=7 FUZZ_SCALE=20
const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_104);
const scale = Number(process.env['FUZZ_SCALE'] ?? 1);

async function send(gateway: GatewayUnderTest, path: string, body: string) {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': masterKey },
    body,
    signal: AbortSignal.timeout(5000),
  });
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  return { status: response.status, text, isStream };
}

/** An error object that says something. */
function checkError(text: string): { readonly code: string; readonly message: string } {
  const { error } = JSON.parse(text) as { error: { type: string; code: string; message: string } };
  expect(error).to.include.keys('type', 'code', 'message');
  expect(error.message).to.be.a('string').that.is.not.equal('');
  return error;
}

/** What the gateway itself refuses, it names. */
function checkRefusal({ code, message }: ReturnType<typeof checkError>): void {
  if (code === 'invalid_request') expect(message).to.match(/^\w[^ ]*: .|with id '/);
}

const marks: Readonly<Record<FormatName, string>> = {
  messages: 'event: message_stop\n',
  chat: 'data: [DONE]\n',
  responses: 'data: [DONE]\n',
  completions: 'data: [DONE]\n',
};

const folds: Readonly<Record<FormatName, (text: string) => unknown>> = {
  messages: checkPassed,
  chat: (text) => foldChat(text, { usage: hasUsage(text) }),
  responses: checkResponses,
  completions: (text) => foldCompletions(text, { usage: hasUsage(text) }),
};

/** What stands between the start and the end is as the upstream sent it. */
function checkPassed(text: string): void {
  const types = sentEvents(text).map(({ event }) => event);
  expect(types[0]).to.equal('message_start');
  expect(types.filter((type) => type === 'message_start')).to.have.length(1);
  expect(types.indexOf('message_stop')).to.equal(types.length - 1);
}

function hasUsage(text: string): boolean {
  return text.includes('"usage":null');
}

/** A stream ends well, in the format's own grammar, or with its error event. */
async function checkStream(format: FormatName, text: string): Promise<void> {
  if (halfOfPair.test(text)) return;
  if (text.includes(marks[format])) await folds[format](text);
  else checkBroken[format](text);
}

/** As JSON writes it: what an upstream, or the caller himself, has cut in half nobody can mend. */
const halfOfPair = /\\ud[89a-f]/;

/** Tests with this share of the usual number of runs. */
export function describeFuzz(share: number): void {
  describe('a body that nobody would send', () => {
    let strict: Pair;
    let replay: Replay;
    /** Over an upstream that takes anything. */
    let lenient: GatewayUnderTest;

    before(async () => {
      strict = await startPair();
      const { start, stop, delta } = answer;
      const block =
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n';
      const pieces = [start, block, delta('Hello.'), stop];
      replay = await startReplay(() => ({ pieces }));
      lenient = await startGateway({ slots: [slotAt(replay.url)] });
    });
    after(() => Promise.all([strict?.close(), lenient?.close()]));
    after(() => replay?.close());

    for (const format of formatNames)
      it(`to ${format} is answered, or refused by what is wrong with it`, async function () {
        this.timeout(20_000 * scale);
        const { path } = dialects[format];
        const paths = format === 'messages' ? [path, path, '/v1/messages/count_tokens'] : [path];
        await fc.assert(
          fc.asyncProperty(
            fc.constantFrom(...bodies(format)),
            mutations,
            fc.boolean(),
            fc.boolean(),
            fc.constantFrom(...paths),
            async (body, changes, isStrict, isStreamed, path) => {
              const json = mutatedJson({ ...body, ...(isStreamed && { stream: true }) }, changes);
              const { status, text, isStream } = await send(isStrict ? strict : lenient, path, json);
              expect(status, text).to.be.oneOf([200, 400, 404, 413]);
              if (status !== 200) checkRefusal(checkError(text));
              else if (isStream) await checkStream(format, text);
            },
          ),
          { seed, numRuns: Math.ceil(200 * scale * share) },
        );
      });

    it('leaves no error of our own in the log', () => {
      const logged = [...strict.logged, ...lenient.logged];
      expect(logged.filter(({ level }) => level === 'error')).to.deep.equal([]);
    });
  });

  describe('a stream that no service should send', () => {
    const sent = new Map<string, Answer>();
    let replay: Replay;
    let gateway: GatewayUnderTest;

    before(async () => {
      replay = await startReplay((received) => sent.get(promptOf(received)));
      gateway = await startGateway({
        slots: [slotAt(replay.url)],
        pipeline: stages({ with: { 'upstream-call': { attempts: 1 } } }),
      });
      await gateway.get('/metrics'); // from the first scrape on, counts are taken at once
    });
    after(() => gateway?.close());
    after(() => replay?.close());

    for (const format of formatNames)
      it(`gives a valid ${format} stream or one that ends in an error, and an answer or an error where it is whole`, async function () {
        this.timeout(20_000 * scale);
        const { path, request } = dialects[format];
        let nth = 0;
        await fc.assert(
          fc.asyncProperty(brokenStreams, fc.boolean(), async (pieces, stream) => {
            const prompt = `stream ${(nth += 1)}`;
            sent.set(prompt, { pieces });
            const body = JSON.stringify({ ...request(prompt), stream });
            const { status, text, isStream } = await send(gateway, path, body);
            if (status !== 200) expect(checkError(text).code).to.not.equal('internal');
            else if (isStream) await checkStream(format, text);
            else expect(JSON.parse(text)).to.be.an('object');
          }),
          { seed, numRuns: Math.ceil(150 * scale * share) },
        );
      });

    it('is read as far as it can be where it comes whole, too', async function () {
      this.timeout(20_000 * scale);
      let nth = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...formatNames),
          mutations,
          fc.boolean(),
          async (format, changes, stream) => {
            const { path, request } = dialects[format];
            const prompt = `whole ${(nth += 1)}`;
            const headers = { 'content-type': 'application/json' };
            sent.set(prompt, { headers, pieces: [mutatedJson(wholeMessage, changes)] });
            const { status, text, isStream } = await send(
              gateway,
              path,
              JSON.stringify({ ...request(prompt), stream }),
            );
            if (status !== 200) expect(checkError(text).code).to.not.equal('internal');
            else if (isStream) await checkStream(format, text);
            else expect(JSON.parse(text)).to.be.an('object');
          },
        ),
        { seed, numRuns: Math.ceil(200 * scale * share) },
      );
    });

    it('counts nothing for a count that is below zero', async () => {
      sent.set('-1', { pieces: [answer.start, oddEnd, answer.stop] });
      const { path, request } = dialects.messages;
      const before = gateway.logged.length;
      const { status } = await send(gateway, path, JSON.stringify(request('-1')));
      expect(status).to.equal(200);
      await gateway.get('/health'); // its line comes after that of the request before
      const line = gateway.logged.slice(before).find(({ msg }) => msg === 'request');
      expect(line).to.have.nested.property('tokens.output', 0);
      expect((await gateway.get('/metrics')).status).to.equal(200);
    });

    it('leaves no error of our own in the log', () => {
      expect(gateway.logged.filter(({ level }) => level === 'error')).to.deep.equal([]);
    });
  });
}

const oddEnd = sse({
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  usage: { output_tokens: -1 },
} as { type: string });

const wholeMessage = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    { type: 'thinking', thinking: 'Hm', signature: 'c2ln' },
    { type: 'text', text: 'Hello', citations: [{ type: 'page_location', cited_text: 'Hello' }] },
    { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: ['it'] } },
    { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 7, output_tokens: 5, cache_read_input_tokens: 3 },
};

/** Sound requests that have a bit of everything, to be changed. */
function bodies(format: FormatName): readonly object[] {
  const recorded = [...(recordedRequests(`${format}-requests`) ?? [])] as [string, object][];
  const usual = recorded.filter(
    ([name, body]) => name !== 'count-tokens.json' && JSON.stringify(body).length < 6000,
  );
  return [dialects[format].request('Hi'), ...usual.map(([, body]) => body)];
}
