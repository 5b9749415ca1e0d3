import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  APIUserAbortError,
  AnthropicError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  type ClientOptions,
  type default as Anthropic,
} from '@anthropic-ai/sdk';
import { expect } from 'chai';
import { slotAt, startGateway, startPair, type GatewayUnderTest, type Pair } from '../harness.js';
import { anthropicAt, failureOf, modelCalls, nextModelCall, timeToAbort } from './sdk-clients.js';

type Create = Anthropic.MessageCreateParamsNonStreaming;

interface Arrived {
  readonly status: number;
  /** What its answer said of another try. */
  readonly retry: string | null;
}

/** A client with the vendor's own number of retries, and each request of it that has arrived. */
function counting(pair: Pair, options: ClientOptions = {}) {
  const requests: Arrived[] = [];
  const counted: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    requests.push({ status: response.status, retry: response.headers.get('x-should-retry') });
    return response;
  };
  return { client: anthropicAt(pair, { maxRetries: 2, fetch: counted, ...options }), requests };
}

/** Looks again at each turn of the event loop. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await nextTurn();
}

function asking(content: string, fields: Partial<Create> = {}): Create {
  return { model: 'sonnet-5', max_tokens: 1000, messages: [{ role: 'user', content }], ...fields };
}

describe('the errors of the Messages SDK', () => {
  let pair: Pair;
  let client: Anthropic;
  beforeEach(async () => {
    pair = await startPair();
    client = anthropicAt(pair);
  });
  afterEach(() => pair.close());

  describe('before an answer', () => {
    it('are AuthenticationError for an unknown key, of which the upstream never hears', async () => {
      const stranger = anthropicAt(pair, { apiKey: 'wrong', maxRetries: 2 });
      const error = await failureOf(stranger.messages.create(asking('Hi')), AuthenticationError);
      expect(error).to.include({ status: 401, type: 'authentication_error' });
      expect(error.error).to.have.nested.property('error.code', 'invalid_api_key');
      expect(pair.simulator.requests).to.deep.equal([]);
    });

    it('are NotFoundError for a path that is not there, and for a model that the catalog lacks', async () => {
      await failureOf(client.files.list(), NotFoundError);
      const error = await failureOf(client.models.retrieve('nobody'), NotFoundError);
      expect(error).to.include({ type: 'not_found_error' });
      expect(error.error).to.have.nested.property('error.code', 'model_not_found');
    });

    it('are NotFoundError for a model that the upstream lacks, in its own words', async () => {
      const question = asking('Hi', { model: 'no-such-model-1' });
      const error = await failureOf(client.messages.create(question), NotFoundError);
      expect(error.apiMessage).to.equal('model: no-such-model-1');
    });

    it('are BadRequestError with the words of the upstream', async () => {
      const question = asking('Hi', { max_tokens: 0 });
      const error = await failureOf(client.messages.create(question), BadRequestError);
      expect(error).to.include({ status: 400, type: 'invalid_request_error' });
      expect(error.apiMessage).to.match(/^max_tokens: /);
      expect(error.requestID).to.match(/^req_/);
    });

    it('are BadRequestError of the gateway where the body lacks its messages', async () => {
      const question = { model: 'sonnet-5', max_tokens: 10 } as Create; // wrong on purpose
      const error = await failureOf(client.messages.create(question), BadRequestError);
      expect(error.apiMessage).to.equal('messages: is required');
      expect(error.error).to.have.nested.property('error.code', 'invalid_request');
    });

    it('keep the details by which the SDK recovers', async () => {
      const question = asking('[[sim:400 code=thread_unsupported_request message="No threads here."]]');
      const error = await failureOf(client.messages.create(question), BadRequestError);
      expect(error).to.include({ errorCode: 'thread_unsupported_request', apiMessage: 'No threads here.' });
      expect(error.details).to.deep.equal({ error_code: 'thread_unsupported_request' });
    });

    it('are RateLimitError with the retry-after of the upstream', async () => {
      const question = asking('[[sim:429 retry-after=17 retry-after-ms=16500]]');
      const error = await failureOf(client.messages.create(question), RateLimitError);
      expect(error).to.include({ status: 429, type: 'rate_limit_error' });
      expect(error.headers.get('retry-after')).to.equal('17');
      expect(error.headers.get('retry-after-ms')).to.equal('16500');
      expect(error.headers.get('x-should-retry')).to.equal('true');
      expect(error.apiMessage).to.include("your organization's rate limit");
    });

    const statuses = {
      403: [PermissionDeniedError, 'permission_error'],
      413: [APIError, 'request_too_large'],
      500: [InternalServerError, 'api_error'],
      504: [InternalServerError, 'timeout_error'],
      529: [InternalServerError, 'overloaded_error'],
    } as const;

    for (const [status, [kind, type]] of Object.entries(statuses)) {
      for (const way of ['whole', 'streamed'] as const) {
        it(`are ${kind.name} ${status} with the type ${type} where a ${way} answer is refused so`, async () => {
          const question = asking(`[[sim:${status}]]`);
          const answer =
            way === 'whole' ? client.messages.create(question) : client.messages.stream(question).done();
          const error = await failureOf(answer, kind);
          expect(error).to.include({ status: Number(status), type });
        });
      }
    }

    it('are a 502 where the turn is empty and has no stop reason', async () => {
      const error = await failureOf(
        client.messages.stream(asking('[[sim:empty]]')).done(),
        InternalServerError,
      );
      expect(error).to.include({ status: 502, type: 'upstream_error' });
      expect(error.error).to.have.nested.property('error.code', 'incomplete_response');
    });

    it('are the status that an error event in place of content says', async () => {
      const question = asking('[[sim:error after=1 type=overloaded_error]]');
      const error = await failureOf(client.messages.stream(question).done(), InternalServerError);
      expect(error).to.include({ status: 529, type: 'overloaded_error' });
    });

    it('are APIConnectionError where the gateway is gone', async () => {
      const gone = await startGateway({ slots: [slotAt(pair.simulator.url)] });
      await gone.close();
      await failureOf(anthropicAt(gone).messages.create(asking('Hi')), APIConnectionError);
    });

    it('are APIConnectionTimeoutError where the SDK waits no longer, and the upstream is told', async () => {
      const arrived = nextModelCall(pair);
      const answer = client.messages.create(asking('[[sim:hang]]'), { timeout: 100 });
      await failureOf(answer, APIConnectionTimeoutError);
      expect(await (await arrived).closed).to.equal('aborted');
    });
  });

  describe('within a stream', () => {
    it('are APIError with the type of the upstream, after what had come', async () => {
      const stream = client.messages.stream(asking('Hi [[sim:error after=6 type=overloaded_error]]'));
      let heard = '';
      stream.on('text', (text) => void (heard += text));
      const error = await failureOf(stream.done(), APIError);
      expect(error).to.include({ type: 'overloaded_error', apiMessage: 'Overloaded' });
      expect(error.status).to.equal(undefined);
      expect(heard).not.to.equal('');
    });

    for (const scenario of ['cut', 'end']) {
      it(`are APIError where the upstream's answer breaks by "${scenario}"`, async () => {
        const question = asking(`Hi [[sim:${scenario} after=6]] [[sim:tokens n=50]]`);
        const error = await failureOf(client.messages.stream(question).done(), APIError);
        expect(error).to.include({
          type: 'upstream_error',
          apiMessage: 'The upstream ended its answer before it was complete.',
        });
      });
    }

    it('are the own error of the SDK where it is the first to parse an event that is not JSON', async () => {
      const question = asking('Hi [[sim:not-json after=6]] [[sim:tokens n=50]]');
      await failureOf(client.messages.stream(question).done(), AnthropicError);
      const answered = await client.messages.create(asking('Hi'));
      expect(answered.stop_reason).to.equal('end_turn');
    });

    it('are an answer of status 502 where the caller waits for the whole of it', async () => {
      const question = asking('Hi [[sim:cut after=6]]');
      const error = await failureOf(client.messages.create(question), InternalServerError);
      expect(error).to.include({ status: 502, type: 'upstream_error' });
    });
  });

  describe('and its retries', () => {
    let patient: Anthropic;
    beforeEach(() => {
      patient = anthropicAt(pair, { maxRetries: 2 });
    });

    it('get an answer once the upstream gives one', async () => {
      pair.simulator.faults.push('429 retry-after-ms=5 times=2 on=generate');
      const message = await patient.messages.create(asking('Hi'));
      expect(message.stop_reason).to.equal('end_turn');
      expect(modelCalls(pair)).to.have.length(3);
    });

    it('end where they are used up, after two upstream calls each: the gateway waits once for the only slot', async () => {
      pair.simulator.faults.push('429 retry-after-ms=5 on=generate');
      await failureOf(patient.messages.create(asking('Hi')), RateLimitError);
      expect(modelCalls(pair)).to.have.length(6);
    });

    it('are not needed where the gateway has asked again itself', async () => {
      pair.simulator.faults.push('529 times=2 on=generate');
      const { response } = await client.messages.create(asking('Hi')).withResponse();
      expect(response.headers.get('x-gw-attempts')).to.equal('3');
      expect(modelCalls(pair)).to.have.length(3);
    });

    it('do not happen where the upstream says x-should-retry: false, nor do those of the gateway', async () => {
      pair.simulator.faults.push('529 x-should-retry=false on=generate');
      await failureOf(patient.messages.create(asking('Hi')), InternalServerError);
      expect(modelCalls(pair)).to.have.length(1);
    });

    it('happen for a 400 where the upstream says x-should-retry: true', async () => {
      pair.simulator.faults.push('400 x-should-retry=true retry-after-ms=5 times=1 on=generate');
      await patient.messages.create(asking('Hi'));
      expect(modelCalls(pair)).to.have.length(2);
    });

    it('do not happen for a refused request', async () => {
      pair.simulator.faults.push('400 on=generate');
      await failureOf(patient.messages.create(asking('Hi')), BadRequestError);
      expect(modelCalls(pair)).to.have.length(1);
    });

    it('do not happen for a turn with nothing in it, for which the gateway has asked again itself', async () => {
      const { client: counted, requests } = counting(pair);
      await failureOf(counted.messages.create(asking('[[sim:empty]]')), InternalServerError);
      await failureOf(counted.messages.stream(asking('[[sim:empty]]')).done(), InternalServerError);
      expect(requests).to.deep.equal([
        { status: 502, retry: 'false' },
        { status: 502, retry: 'false' },
      ]);
      expect(modelCalls(pair)).to.have.length(6);
    });

    it('do not happen for a wrong key, and for a key that the upstream refuses', async () => {
      const { client: stranger, requests } = counting(pair, { apiKey: 'wrong' });
      await failureOf(stranger.messages.create(asking('Hi')), AuthenticationError);
      const { client: own, requests: refused } = counting(pair);
      await failureOf(own.messages.create(asking('[[sim:403]]')), PermissionDeniedError);
      await failureOf(own.messages.create(asking('[[sim:401]]')), InternalServerError);
      await failureOf(own.models.retrieve('nobody'), NotFoundError);
      expect(requests).to.deep.equal([{ status: 401, retry: 'false' }]);
      expect(refused.map(({ status, retry }) => [status, retry])).to.deep.equal([
        [403, 'false'],
        [503, 'false'],
        [404, 'false'],
      ]);
    });

    it('happen where the upstream itself says so, whatever the gateway makes of the status', async () => {
      const { client: own, requests } = counting(pair);
      pair.simulator.faults.push('404 x-should-retry=true retry-after-ms=5 times=1 on=generate');
      await own.messages.create(asking('Hi'));
      expect(requests).to.deep.equal([
        { status: 404, retry: 'true' },
        { status: 200, retry: null },
      ]);
    });

    it('wait as long as retry-after says', async () => {
      pair.simulator.faults.push('429 retry-after=1 times=1 on=generate');
      const startedMs = performance.now();
      await patient.messages.create(asking('Hi'));
      expect(performance.now() - startedMs).to.be.within(900, 5000);
    });
  });

  describe('when the caller leaves', () => {
    it('by stream.abort() ends the upstream call at once, and the SDK says APIUserAbortError', async () => {
      const arrived = nextModelCall(pair);
      const stream = client.messages.stream(asking('Hi [[sim:stall after=4]]'));
      await stream.emitted('text');
      const failed = failureOf(stream.done(), APIUserAbortError);
      expect(await timeToAbort(await arrived, () => stream.abort())).to.be.lessThan(250);
      await failed;
    });

    it('by an AbortController ends a whole call before its answer has begun', async () => {
      const controller = new AbortController();
      const arrived = nextModelCall(pair);
      const answer = client.messages.create(asking('[[sim:hang]]'), { signal: controller.signal });
      const failed = failureOf(answer, APIUserAbortError);
      expect(await timeToAbort(await arrived, () => controller.abort())).to.be.lessThan(250);
      await failed;
    });

    it('by an AbortController ends a whole call in the middle of its answer', async () => {
      const controller = new AbortController();
      const arrived = nextModelCall(pair);
      const question = asking('[[sim:slow ms=5]] [[sim:tokens n=2000]]', { max_tokens: 5000 });
      const failed = failureOf(
        client.messages.create(question, { signal: controller.signal }),
        APIUserAbortError,
      );
      const exchange = await arrived;
      await until(() => exchange.eventsWritten > 5);
      expect(await timeToAbort(exchange, () => controller.abort())).to.be.lessThan(250);
      await failed;
    });

    it('by breaking out of its loop ends the upstream call', async () => {
      const arrived = nextModelCall(pair);
      const stream = await client.messages.create({ ...asking('[[sim:stall after=4]]'), stream: true });
      const exchange = await arrived;
      for await (const event of stream) if (event.type === 'content_block_delta') break;
      expect(await exchange.closed).to.equal('aborted');
    });

    it('gives its place in the slot back', async () => {
      const small = await startGateway({ slots: [slotAt(pair.simulator.url, { maxConcurrent: 1 })] });
      try {
        await expectPlaceBack(small);
      } finally {
        await small.close();
      }
    });

    async function expectPlaceBack(small: GatewayUnderTest): Promise<void> {
      const arrived = nextModelCall(pair);
      const stream = anthropicAt(small).messages.stream(asking('[[sim:stall after=4]]'));
      const left = failureOf(stream.done(), APIUserAbortError);
      await stream.emitted('text');
      await timeToAbort(await arrived, () => stream.abort());
      await left;
      const next = await anthropicAt(small).messages.create(asking('Hi'));
      expect(next.stop_reason).to.equal('end_turn');
    }
  });
});
