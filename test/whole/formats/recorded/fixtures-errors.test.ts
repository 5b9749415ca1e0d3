import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { dialects, formatNames } from '../dialects.js';
import { slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { json, startReplay, type Answer, type Replay } from './replay.js';

interface RecordedError {
  readonly provider: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: { readonly error: ErrorFields };
}

interface ErrorFields {
  readonly type?: string;
  readonly code?: unknown;
  readonly message: string;
  readonly details?: unknown;
}

const folder = join(process.cwd(), '../shared/fixtures/errors');
const recordings = existsSync(folder) ? readdirSync(folder).map((file) => file.replace('.json', '')) : [];

function recorded(name: string): RecordedError {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as RecordedError;
}

/** What `error` says where the upstream's own has no type, or no code that is a text. */
const additions: Readonly<Record<string, Partial<ErrorFields>>> = {
  'azure-429-retry-after': { type: 'rate_limit_error' },
  'openrouter-429-upstream': { type: 'rate_limit_error', code: 'rate_limit_error' },
};

/** Words of an error for a caller; clients of Messages know too long a prompt by its beginning. */
function wordsOf(format: string, { code, message }: Partial<ErrorFields>): string {
  const isTooLong = format === 'messages' && code === 'context_length_exceeded';
  return isTooLong ? `prompt is too long. ${message}` : String(message);
}

const kept = /^(request-id|retry-after|retry-after-ms|x-should-retry|anthropic-ratelimit-.*|x-ratelimit-.*)$/;

const refusedAccount = "The gateway's account at its provider is refused; tell its operator.";

describe('a recorded error', () => {
  let answer: Answer;
  let replay: Replay;
  let gateway: GatewayUnderTest;

  before(async function () {
    if (recordings.length === 0) this.skip();
    replay = await startReplay(() => answer);
  });
  beforeEach(async () => {
    gateway = await startGateway({ slots: [slotAt(replay.url)] });
  });
  afterEach(() => gateway?.close());
  after(() => replay?.close());

  for (const name of recordings.filter((each) => !each.includes('401')))
    it(`keeps its status, words and headers for every caller: ${name}`, async () => {
      const { status, headers, body } = recorded(name);
      answer = json(body, status, withoutFraming(headers));
      const { type, code, details } = { code: body.error.type, ...body.error, ...additions[name] };
      const message = wordsOf('messages', body.error);
      const { path, request } = dialects.messages;
      const response = await gateway.post(path, request('Hi'));
      expect(response.status).to.equal(status);
      expect(await response.json()).to.deep.equal({
        type: 'error',
        error: { type, code, message, ...(details ? { details } : {}) },
        request_id: response.headers.get('request-id'),
      });
      const keptHeaders = Object.entries(headers).filter(([name]) => kept.test(name));
      for (const [name, value] of keptHeaders) expect(response.headers.get(name), name).to.equal(value);
      const isFinal = [401, 403, 404].includes(status);
      if (isFinal && !('x-should-retry' in headers))
        expect(response.headers.get('x-should-retry')).to.equal('false');
      const unknown = [...response.headers.keys()].filter((name) => !known.test(name) && !kept.test(name));
      expect(unknown).to.deep.equal([]);
    });

  for (const format of formatNames)
    it(`is an HTTP error for ${format}, whether a stream was asked for or not`, async () => {
      const { path, request } = dialects[format];
      for (const name of recordings.filter((name) => !name.includes('401') && !name.includes('window'))) {
        const { status, headers, body } = recorded(name);
        answer = json(body, status, withoutFraming(headers));
        for (const stream of [true, false]) {
          const response = await gateway.post(path, { ...request('Hi'), stream });
          expect(response.status).to.equal(status);
          expect(response.headers.get('content-type')).to.match(/^application\/json/);
          const { error } = (await response.json()) as RecordedError['body'];
          expect(error).to.have.property('message', wordsOf(format, body.error));
        }
      }
    });

  for (const name of recordings.filter((each) => each.includes('401')))
    it(`is not the caller's own, where it refuses the account: ${name}`, async () => {
      const { status, headers, body } = recorded(name);
      answer = json(body, status, withoutFraming(headers));
      const { path, request } = dialects.messages;
      const response = await gateway.post(path, request('Hi'));
      expect([response.status, response.headers.get('x-should-retry')]).to.deep.equal([503, 'false']);
      const { error } = (await response.json()) as RecordedError['body'];
      expect(error).to.include({ code: 'no_slot_available', message: refusedAccount });
    });

  it('of a key keeps the slot from being asked again', async () => {
    const { status, headers, body } = recorded('anthropic-401-invalid-key');
    answer = json(body, status, withoutFraming(headers));
    const { path, request } = dialects.chat;
    const before = replay.received.length;
    const first = await gateway.post(path, request('Hi'));
    expect(await first.json()).to.have.nested.property('error.message', refusedAccount);
    const second = await gateway.post(path, request('Hi'));
    expect([first.status, second.status]).to.deep.equal([503, 503]);
    expect(await second.json()).to.have.nested.property('error.code', 'no_slot_available');
    expect(replay.received.length - before).to.equal(1);
  });
});

/** What the gateway itself says beside an error. */
const known =
  /^(connection|content-length|content-type|date|keep-alive|x-content-type-options|x-request-id|x-gw-(slot|attempts))$/;

/** Recorded headers but for those that the replay's own server writes. */
function withoutFraming(headers: RecordedError['headers']): RecordedError['headers'] {
  const own = new Set(['transfer-encoding', 'content-length', 'date']);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !own.has(name)));
}
