import { expect } from 'chai';
import { request } from 'undici';
import { EventStream, foldMessage, ModelEvent, systemClock, type Logger } from '#src/plugin/index.js';
import type { Credential, Upstream, UpstreamCall, UpstreamHost } from '#src/plugin/upstream/index.js';
import { openHttpClient } from '#src/engine/transport/http-client.js';
import simulator from '#plugins/upstreams/simulator/index.js';
import { parseEvents, saying } from './caller.js';

interface Opened {
  baseUrl: string | undefined;
  proxy: string | undefined;
  isClosed: boolean;
}

/** A host whose other upstream is as little of `messages` as the simulator needs. */
function hostOf(opened: Opened): UpstreamHost {
  const slot = {
    id: 'sim',
    proxy: 'http://egress:3128',
    headers: {},
    connectTimeoutMs: 1000,
    maxConcurrent: 4,
  };
  const http = openHttpClient({ ...slot, baseUrl: 'http://127.0.0.1:9', log: silent });
  const upstreams: UpstreamHost['upstreams'] = {
    async open(use, { baseUrl, proxy }): Promise<Upstream> {
      expect(use).to.equal('messages');
      Object.assign(opened, { baseUrl, proxy });
      const send = async (path: string, call: UpstreamCall) =>
        request(`${baseUrl}${path}`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'anthropic-version': '2023-06-01',
            ...call.headers,
            ...(await call.authorize({ method: 'POST', origin: '', path, headers: {}, signal: call.signal })),
          },
          body: JSON.stringify(call.request),
        });
      return {
        async generate(call) {
          const { statusCode: status, body } = await send('/v1/messages', call);
          const batch = parseEvents(await body.text()).map((event) => ModelEvent.of(event));
          return {
            status,
            headers: {},
            events: EventStream.from(
              (async function* once() {
                yield batch;
              })(),
            ),
          };
        },
        async countTokens(call) {
          const { body } = await send('/v1/messages/count_tokens', call);
          const { input_tokens: inputTokens } = (await body.json()) as { input_tokens: number };
          return { inputTokens, estimated: false };
        },
        diagnose: () => Promise.resolve([{ step: 'resolve', ok: true, ms: 0, detail: 'found' }]),
        close() {
          opened.isClosed = true;
          return Promise.resolve();
        },
      };
    },
  };
  return { slot, http, upstreams, log: silent, now: Date.now, clock: systemClock, dry: false };
}

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silent,
};

function call(body: object, credential: Credential = {}): UpstreamCall {
  return {
    request: body as UpstreamCall['request'],
    headers: {},
    search: '',
    signal: new AbortController().signal,
    headersTimeoutMs: 1000,
    idleTimeoutMs: 1000,
    authorize: () => credential,
  };
}

describe('the simulator as a slot’s upstream', () => {
  it('starts with the first call, answers without an account, and ends with the slot', async () => {
    const opened: Opened = { baseUrl: undefined, proxy: undefined, isClosed: false };
    const upstream = await simulator.open({}, hostOf(opened));
    expect(opened.baseUrl).to.equal(undefined);
    const { events } = await upstream.generate(call({ ...saying('Hi'), stream: true }));
    expect((await foldMessage(events)).stop_reason).to.equal('end_turn');
    expect(opened.baseUrl).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(opened.proxy).to.equal(undefined);
    const count = call(
      { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
      { authorization: 'Bearer k' },
    );
    expect((await upstream.countTokens!(count)).inputTokens).to.be.greaterThan(0);
    expect(
      await upstream.diagnose!({ signal: new AbortController().signal, authorize: () => ({}) }),
    ).to.have.length(1);
    await upstream.close!();
    expect(opened.isClosed).to.equal(true);
    const refused = await request(String(opened.baseUrl)).catch((error: unknown) => error);
    expect(refused).to.be.an('error');
  });

  it('is opened again by the next call where it could not be, and leaves no server behind', async () => {
    const opened: Opened = { baseUrl: undefined, proxy: undefined, isClosed: false };
    const host = hostOf(opened);
    const failed: unknown[] = [];
    const upstreams: UpstreamHost['upstreams'] = {
      async open(use, settings) {
        if (failed.push(settings.baseUrl) === 1) throw new Error('not open');
        return host.upstreams.open(use, settings);
      },
    };
    const upstream = await simulator.open({}, { ...host, upstreams });
    const failure = await upstream.generate(call(saying('Hi'))).then(String, String);
    expect(failure).to.equal('Error: not open');
    expect(await request(String(failed[0])).then(String, ({ code }: NodeJS.ErrnoException) => code)).to.equal(
      'ECONNREFUSED',
    );
    const { events } = await upstream.generate(call({ ...saying('Hi'), stream: true }));
    expect((await foldMessage(events)).stop_reason).to.equal('end_turn');
    await upstream.close!();
    expect(opened.isClosed).to.equal(true);
  });

  it('closes after it could not be opened', async () => {
    const host = hostOf({ baseUrl: undefined, proxy: undefined, isClosed: false });
    const upstreams = { open: () => Promise.reject(new Error('not open')) };
    const upstream = await simulator.open({}, { ...host, upstreams });
    expect(await upstream.generate(call(saying('Hi'))).then(String, String)).to.equal('Error: not open');
    await upstream.close!();
  });

  it('closes without ever having started', async () => {
    const opened = { baseUrl: undefined, proxy: undefined, isClosed: false };
    const upstream = await simulator.open({}, hostOf(opened));
    await upstream.close!();
    expect(opened).to.include({ baseUrl: undefined, isClosed: false });
  });
});
