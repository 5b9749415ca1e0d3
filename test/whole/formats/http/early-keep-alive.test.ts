import { expect } from 'chai';
import { eventStream, later } from '../../../engine/transport/upstream-kit.js';
import { dialects, formatNames } from '../dialects.js';
import { eventsIn, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { scripted, type Parts, type ScriptedUpstream } from '../../scripted-upstream.js';

describe('earlyKeepAlive', () => {
  let upstream: ScriptedUpstream;
  let under: GatewayUnderTest;
  afterEach(async () => {
    await under.close();
    await upstream.close();
  });

  type Answer = (parts: Parts, model: string) => { readonly status: number; readonly body: string };

  /** A gateway over an upstream that answers when it is told to. */
  async function start(answer: Answer, earlyKeepAlive = '20ms', more: readonly object[] = []) {
    const { promise: told, resolve: goOn } = later();
    upstream = await scripted(async (request, response, parts, text) => {
      if (!request.url?.endsWith('/messages')) return void response.writeHead(404).end();
      const { model } = JSON.parse(text) as { model: string };
      await told;
      const { status, body } = answer(parts, model);
      response
        .writeHead(status, status === 200 ? eventStream : { 'content-type': 'application/json' })
        .end(body);
    });
    const pipeline = stages({
      with: { 'format-encode': { earlyKeepAlive }, 'upstream-call': { attempts: 2 } },
    }).flatMap((stage) => ('use' in stage && stage.use === 'slot-pick' ? [...more, stage] : [stage]));
    under = await startGateway({ pipeline, slots: [slotAt(upstream.url)] });
    return goOn;
  }

  const good: Answer = ({ start: head, text, end, stop }) => ({
    status: 200,
    body: head + text('Hi') + end + stop,
  });
  const bad: Answer = () => ({
    status: 529,
    body: '{"type":"error","error":{"type":"overloaded_error","message":"Busy."}}',
  });

  /** Text of a stream up to its first keep-alive, and the rest of it once the upstream has gone on. */
  async function read(response: Response, goOn: () => void): Promise<{ first: string; rest: string }> {
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const { value: first = '' } = await reader.read();
    goOn();
    let rest = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) rest += part.value;
    return { first, rest };
  }

  for (const name of formatNames) {
    const { path, request, fold } = dialects[name];
    const keepAlive = name === 'messages' ? /^event: ping\n/ : /^: ?/;

    it(`sends the head and a keep-alive before the first content, then the whole stream (${name})`, async () => {
      const goOn = await start(good);
      const response = await under.post(path, { ...request('Hello!'), stream: true });
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
      const { first, rest } = await read(response, goOn);
      expect(first).to.match(keepAlive);
      expect(() => fold(rest)).not.to.throw();
      expect(rest).to.include('Hi');
    });

    it(`makes a later failure an error event, without a mark of success (${name})`, async () => {
      const goOn = await start(bad);
      const response = await under.post(path, { ...request('Hello!'), stream: true });
      const { rest } = await read(response, goOn);
      expect(response.status).to.equal(200);
      const last = eventsIn(rest).at(-1);
      expect(JSON.stringify(last)).to.include('Busy.');
      expect(rest).not.to.include('[DONE]');
      expect(rest).not.to.include('message_stop');
      expect(rest).not.to.include('response.completed');
    });
  }

  it('names the model that answers, also where that is another one', async () => {
    const fallback = { use: 'fallback', with: { to: { 'sonnet-5': ['haiku-5'] } } };
    const goOn = await start(
      (parts, model) => (model.includes('haiku') ? good(parts, model) : bad(parts, model)),
      '20ms',
      [fallback],
    );
    const { path, request } = dialects.chat;
    const { rest } = await read(await under.post(path, { ...request('Hello!'), stream: true }), goOn);
    expect(rest).to.include('Hi').and.include('"model":"haiku-5"').and.not.include('"model":"sonnet-5"');
  });

  it('leaves failures in time, and whole answers, their status', async () => {
    const goOn = await start(bad, '1m');
    goOn();
    const { path, request } = dialects.chat;
    expect(await errorIn(await under.post(path, { ...request('Hello!'), stream: true }))).to.include({
      status: 529,
    });
    expect(await errorIn(await under.post(path, request('Hello!')))).to.include({ status: 529 });
  });

  it('ends the call where the caller leaves', async () => {
    await start(good);
    const { path, request } = dialects.messages;
    const response = await under.post(path, { ...request('Hello!'), stream: true });
    await response.body!.cancel();
    await under.gateway.exchanges.idle();
    expect(under.gateway.services.slots.list()[0]).to.include({ inFlight: 0 });
  });
});
