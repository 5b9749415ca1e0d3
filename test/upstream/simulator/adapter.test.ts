import { expect } from 'chai';
import { request } from 'undici';
import {
  foldMessage,
  ModelEvent,
  type Logger,
  type Upstream,
  type UpstreamAdapter,
  type UpstreamCall,
} from 'gw2api/plugin';
import { simulatorAdapter } from '#src/upstream/simulator/index.js';
import { parseEvents, saying } from './caller.js';

/** As little of a Messages adapter as the simulator's needs. */
function plainAdapter(opened: {
  baseUrl: string | undefined;
  proxy: string | undefined;
  isClosed: boolean;
}): UpstreamAdapter {
  return {
    kind: 'messages',
    open({ baseUrl, proxy }): Upstream {
      Object.assign(opened, { baseUrl, proxy });
      const send = (path: string, call: UpstreamCall): ReturnType<typeof request> =>
        request(`${baseUrl}${path}`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'anthropic-version': '2023-06-01',
            ...call.headers,
            ...call.credential,
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
            events: (async function* once() {
              yield batch;
            })(),
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
}

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silent,
};

function call(body: object, credential: Record<string, string> = {}): UpstreamCall {
  return {
    request: body as UpstreamCall['request'],
    headers: {},
    search: '',
    signal: new AbortController().signal,
    headersTimeoutMs: 1000,
    idleTimeoutMs: 1000,
    credential,
  };
}

describe('the simulator as a slot’s upstream', () => {
  const settings = {
    id: 'sim',
    proxy: 'http://egress:3128',
    headers: {},
    connectTimeoutMs: 1000,
    maxConcurrent: 4,
    log: silent,
  };
  it('starts with the first call, answers without an account, and ends with the slot', async () => {
    const opened = {
      baseUrl: undefined as string | undefined,
      proxy: undefined as string | undefined,
      isClosed: false,
    };
    const upstream = await simulatorAdapter(plainAdapter(opened)).open(settings);
    expect(opened.baseUrl).to.equal(undefined);
    const { events } = await upstream.generate(call({ ...saying('Hi'), stream: true }));
    expect((await foldMessage(events)).stop_reason).to.equal('end_turn');
    expect(opened.baseUrl).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(opened.proxy).to.equal(undefined);
    const count = call(
      { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
      { authorization: 'Bearer k' },
    );
    expect((await upstream.countTokens(count)).inputTokens).to.be.greaterThan(0);
    expect(await upstream.diagnose(new AbortController().signal, {})).to.have.length(1);
    await upstream.close();
    expect(opened.isClosed).to.equal(true);
    const refused = await request(String(opened.baseUrl)).catch((error: unknown) => error);
    expect(refused).to.be.an('error');
  });

  it('closes without ever having started', async () => {
    const opened = { baseUrl: undefined, proxy: undefined, isClosed: false };
    const upstream = await simulatorAdapter(plainAdapter(opened)).open(settings);
    await upstream.close();
    expect(opened).to.include({ baseUrl: undefined, isClosed: false });
  });
});
