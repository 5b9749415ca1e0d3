import { expect } from 'chai';
import {
  APIConnectionError,
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  type default as OpenAI,
} from 'openai';
import { slotAt, startGateway, startPair, type Pair } from '../harness.js';
import { failureOf, modelCalls, nextModelCall, openaiAt, timeToAbort } from './sdk-clients.js';

const model = 'sonnet-5';

/** The three formats of this SDK, asked the same: whole, and read to the end of a stream. */
const formats = {
  'Chat Completions': {
    whole: (client: OpenAI, text: string, signal?: AbortSignal) =>
      client.chat.completions.create({ model, messages: [{ role: 'user', content: text }] }, { signal }),
    stream: (client: OpenAI, text: string) =>
      client.chat.completions.create({ model, messages: [{ role: 'user', content: text }], stream: true }),
  },
  Responses: {
    whole: (client: OpenAI, text: string, signal?: AbortSignal) =>
      client.responses.create({ model, input: text }, { signal }),
    stream: (client: OpenAI, text: string) => client.responses.create({ model, input: text, stream: true }),
  },
  Completions: {
    whole: (client: OpenAI, text: string, signal?: AbortSignal) =>
      client.completions.create({ model, prompt: text }, { signal }),
    stream: (client: OpenAI, text: string) =>
      client.completions.create({ model, prompt: text, stream: true }),
  },
} as const;

async function readAll(stream: PromiseLike<AsyncIterable<object>>): Promise<readonly object[]> {
  const read = [];
  for await (const chunk of await stream) read.push(chunk);
  return read;
}

describe('the errors of the OpenAI SDK', () => {
  let pair: Pair;
  let client: OpenAI;
  beforeEach(async () => {
    pair = await startPair();
    client = openaiAt(pair);
  });
  afterEach(() => pair.close());

  for (const [name, { whole, stream }] of Object.entries(formats)) {
    describe(`in ${name}`, () => {
      const readWhole = (asked: OpenAI, text: string) => readAll(stream(asked, text));

      it('are AuthenticationError for an unknown key, of which the upstream never hears', async () => {
        const stranger = openaiAt(pair, { apiKey: 'wrong', maxRetries: 2 });
        const error = await failureOf(whole(stranger, 'Hi'), AuthenticationError);
        expect(error).to.include({ status: 401, code: 'invalid_api_key', type: 'authentication_error' });
        expect(pair.simulator.requests).to.deep.equal([]);
      });

      const statuses = {
        400: [BadRequestError, 'invalid_request_error'],
        403: [PermissionDeniedError, 'permission_error'],
        404: [NotFoundError, 'not_found_error'],
        429: [RateLimitError, 'rate_limit_error'],
        500: [InternalServerError, 'api_error'],
        529: [InternalServerError, 'overloaded_error'],
      } as const;

      for (const [status, [kind, type]] of Object.entries(statuses)) {
        it(`are ${kind.name} where the upstream answers ${status}`, async () => {
          const text = `[[sim:${status} message="In its own words." retry-after=17 retry-after-ms=16500]]`;
          for (const ask of [whole, readWhole]) {
            const error = await failureOf(ask(client, text), kind);
            expect(error).to.include({ status: Number(status), type, code: type });
            expect(error.message).to.equal(`${status} In its own words.`);
            expect(error.headers?.get('retry-after')).to.equal('17');
            expect(error.headers?.get('retry-after-ms')).to.equal('16500');
          }
        });
      }

      it('are InternalServerError with a code of ours where the upstream says nothing', async () => {
        for (const ask of [whole, readWhole]) {
          const error = await failureOf(ask(client, '[[sim:empty]]'), InternalServerError);
          expect(error).to.include({ status: 502, type: 'upstream_error', code: 'incomplete_response' });
        }
      });

      it('carry the request id of the answer', async () => {
        const error = await failureOf(whole(client, '[[sim:400]]'), BadRequestError);
        expect(error.requestID).to.be.a('string').that.is.not.equal('');
      });

      it('are retried as retry-after-ms says, until there is an answer', async () => {
        pair.simulator.faults.push('429 retry-after-ms=5 times=2 on=generate');
        await whole(openaiAt(pair, { maxRetries: 2 }), 'Hi');
        expect(modelCalls(pair)).to.have.length(3);
      });

      it('are not retried where the upstream says x-should-retry: false', async () => {
        pair.simulator.faults.push('500 x-should-retry=false on=generate');
        await failureOf(whole(openaiAt(pair, { maxRetries: 2 }), 'Hi'), InternalServerError);
        expect(modelCalls(pair)).to.have.length(1);
      });

      it('are not retried where the gateway has asked again itself', async () => {
        await failureOf(whole(openaiAt(pair, { maxRetries: 2 }), '[[sim:empty]]'), InternalServerError);
        expect(modelCalls(pair)).to.have.length(3);
      });

      it('end a whole call that is given up, within 250 ms', async () => {
        const controller = new AbortController();
        const arrived = nextModelCall(pair);
        const failed = failureOf(whole(client, '[[sim:hang]]', controller.signal), APIUserAbortError);
        expect(await timeToAbort(await arrived, () => controller.abort())).to.be.lessThan(250);
        await failed;
      });

      it('end a stream that is given up, within 250 ms', async () => {
        const arrived = nextModelCall(pair);
        const reading = await stream(client, '[[sim:stall after=4]]');
        const chunks = (reading as AsyncIterable<object>)[Symbol.asyncIterator](); // whichever format's chunks
        await chunks.next();
        expect(await timeToAbort(await arrived, () => reading.controller.abort())).to.be.lessThan(250);
      });
    });
  }

  for (const name of ['Chat Completions', 'Responses'] as const) {
    it(`are BadRequestError in ${name} that name the field`, async () => {
      const images = [{ type: 'image_url', image_url: { url: 'ftp://example.com/a.png' } }];
      const items = [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }];
      const answer =
        name === 'Responses'
          ? client.responses.create({ model, input: items as OpenAI.Responses.ResponseInput }) // wrong on purpose
          : client.chat.completions.create({
              model,
              messages: [{ role: 'user', content: images as OpenAI.ChatCompletionContentPart[] }],
            });
      const error = await failureOf(answer, BadRequestError);
      expect(error.code).to.equal('invalid_request');
      expect(error.message).to.match(/^400 (messages|input)\[0\]\.content\[0\]\.(image_url|file_id)/);
      expect(modelCalls(pair)).to.deep.equal([]);
    });
  }

  it('are BadRequestError for a previous_response_id that is unknown or gone', async () => {
    const answer = client.responses.create({ model, input: 'Hi', previous_response_id: 'resp_unknown' });
    const error = await failureOf(answer, BadRequestError);
    expect(error).to.include({
      status: 400,
      code: 'previous_response_not_found',
      type: 'invalid_request_error',
      param: 'previous_response_id',
    });
    expect(error.message).to.include("Previous response with id 'resp_unknown' not found.");
  });

  it('are NotFoundError for a model that the catalog lacks, and for a path that is not there', async () => {
    const error = await failureOf(client.models.retrieve('nobody'), NotFoundError);
    expect(error.code).to.equal('model_not_found');
    await failureOf(client.files.list(), NotFoundError);
  });

  it('are APIConnectionError where the gateway is gone', async () => {
    const gone = await startGateway({ slots: [slotAt(pair.simulator.url)] });
    await gone.close();
    await failureOf(openaiAt(gone).responses.create({ model, input: 'Hi' }), APIConnectionError);
  });

  describe('within a stream', () => {
    const broken = {
      'an error event': '[[sim:error after=6 type=overloaded_error]]',
      'a cut': '[[sim:cut after=6]] [[sim:tokens n=50]]',
      'an end': '[[sim:end after=6]] [[sim:tokens n=50]]',
      'something that is not JSON': '[[sim:not-json after=6]] [[sim:tokens n=50]]',
    };

    for (const [what, text] of Object.entries(broken)) {
      for (const name of ['Chat Completions', 'Completions'] as const) {
        it(`of ${name} are APIError where ${what} breaks it`, async () => {
          const error = await failureOf(readAll(formats[name].stream(client, text)), APIError);
          expect(error.status).to.equal(undefined);
          expect(error.type).to.be.oneOf(['overloaded_error', 'upstream_error']);
          expect(error.code).to.be.a('string');
          expect(error.message).not.to.equal('');
        });
      }

      it(`of Responses are a response that has failed where ${what} breaks it`, async () => {
        const events = (await readAll(formats.Responses.stream(client, text))) as { type: string }[];
        const last = events.at(-1) as OpenAI.Responses.ResponseFailedEvent; // so says the next line
        expect(last.type).to.equal('response.failed');
        expect(last.response.status).to.equal('failed');
        expect(last.response.error?.code).to.equal('server_error');
        const final = await client.responses.stream({ model, input: text }).finalResponse();
        expect(final.status).to.equal('failed');
      });
    }

    it('of the chat helper are APIError too, and finalChatCompletion fails with it', async () => {
      const stream = client.chat.completions.stream({
        model,
        messages: [{ role: 'user', content: broken['an error event'] }],
      });
      const error = await failureOf(stream.finalChatCompletion(), APIError);
      expect(error).to.include({ type: 'overloaded_error', code: 'overloaded_error' });
    });
  });
});
