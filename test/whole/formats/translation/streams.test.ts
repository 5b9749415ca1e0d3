import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { eventStream, later } from '../../../engine/transport/upstream-kit.js';
import {
  ask,
  eventsIn,
  masterKey,
  slotAt,
  stages,
  startGateway,
  startPair,
  type GatewayUnderTest,
  type Pair,
} from '../../harness.js';
import { scripted, type Parts, type ScriptedUpstream } from '../../scripted-upstream.js';

const bodies: Readonly<Record<string, (text: string) => object>> = {
  '/v1/messages': (text) => ask(text),
  '/v1/chat/completions': (text) => ({ model: 'sonnet-5', messages: [{ role: 'user', content: text }] }),
  '/v1/responses': (text) => ({ model: 'sonnet-5', input: text }),
  '/v1/completions': (text) => ({ model: 'sonnet-5', prompt: text }),
};

describe('streams', () => {
  let pair: Pair;
  before(async () => void (pair = await startPair()));
  after(() => pair.close());

  /** All text that a stream carries, whatever its format. */
  function textIn(stream: string): string {
    type Piece = {
      delta?: { text?: string } | string;
      choices?: readonly { text?: string; delta?: { content?: string } }[];
    };
    const pieces = (eventsIn(stream) as (Piece | '[DONE]')[]).map((event) => {
      if (event === '[DONE]') return '';
      const [choice] = event.choices ?? [];
      const delta = typeof event.delta === 'string' ? event.delta : event.delta?.text;
      return delta ?? choice?.text ?? choice?.delta?.content ?? '';
    });
    return pieces.join('');
  }

  const framings = [
    'bytes',
    'crlf',
    'cr',
    'gzip',
    'br',
    'bom',
    'comments',
    'no-event-line',
    'done',
    'slow ms=0',
  ];
  const additions = ['double-start', 'unknown-events'];
  for (const [path, body] of Object.entries(bodies)) {
    it(`of ${path} say the same however the upstream sends them`, async () => {
      for (const framing of [...framings, ...additions]) {
        const text = `[[sim:say text="Ünï 🌍 done."]][[sim:${framing}]]`;
        const response = await pair.post(path, { ...body(text), stream: true });
        const said = textIn(await response.text());
        // The scenario has a text of its own.
        const expected =
          framing === 'unknown-events' ? 'There were unknown things before this.' : 'Ünï 🌍 done.';
        expect(said, framing).to.equal(expected);
      }
    });
  }

  it('of Messages have the events as the upstream sent them, those of unknown types too', async () => {
    const text = await (
      await pair.post('/v1/messages', ask('[[sim:unknown-events]]', { stream: true }))
    ).text();
    expect(text)
      .to.include('event: future_event\n')
      .and.include('"future_delta"')
      .and.include('"future_block"');
  });

  it('are not ended by a bad chunk in another one', async () => {
    const send = async (at: number) => {
      const fault = at % 2 === 0 ? '[[sim:not-json after=10]]' : '';
      const body = bodies['/v1/chat/completions']!(`[[sim:tokens n=30]][[sim:slow ms=1]]${fault} ${at}`);
      const events = eventsIn(
        await (await pair.post('/v1/chat/completions', { ...body, stream: true })).text(),
      );
      return events.at(-1);
    };
    const ends = await Promise.all(Array.from({ length: 10 }, (_, at) => send(at)));
    for (const [at, end] of ends.entries()) {
      if (at % 2 === 1) expect(end).to.equal('[DONE]');
      else expect(end).to.have.nested.property('error.code', 'upstream_interrupted');
    }
  });

  describe('before the commit point', () => {
    let upstream: ScriptedUpstream;
    let under: GatewayUnderTest;
    afterEach(async () => {
      await under.close();
      await upstream.close();
    });

    /** A gateway over an upstream that sends `first`, and `then` when it is told to. */
    async function start(first: (parts: Parts) => string, then: (parts: Parts) => string) {
      const { promise: told, resolve: goOn } = later();
      const { promise: sent, resolve: onSent } = later();
      upstream = await scripted(async (request, response, parts) => {
        if (!request.url?.endsWith('/messages')) return void response.writeHead(404).end();
        response.writeHead(200, eventStream).write(first(parts));
        onSent();
        await told;
        response.end(then(parts));
      });
      const pipeline = stages({ with: { 'format-encode': { keepAlive: '20ms' } } });
      under = await startGateway({ pipeline, slots: [slotAt(upstream.url)] });
      return { sent, goOn };
    }

    const ping = 'event: ping\ndata: {"type": "ping"}\n\n';
    const textStart =
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n';
    const nothing: Readonly<Record<string, (parts: Parts) => string>> = {
      message_start: ({ start }) => start,
      'message_start and pings': ({ start }) => start + ping + ping,
      'the start of an empty text': ({ start }) => start + textStart,
      'an empty delta': ({ start, delta }) => start + textStart + delta(''),
    };
    for (const [what, first] of Object.entries(nothing))
      it(`nothing is sent, no keep-alive either: after ${what}`, async () => {
        const { sent, goOn } = await start(
          first,
          ({ delta, end, stop }) => textStart + delta('Hi') + end + stop,
        );
        const responding = under.post('/v1/messages', ask('Hello!', { stream: true }));
        let hasAnswered = false;
        void responding.then(() => (hasAnswered = true));
        await sent;
        await keepAlivePeriods(3);
        expect(hasAnswered).to.equal(false);
        goOn();
        expect(textIn(await (await responding).text())).to.equal('Hi');
      });

    const something: Readonly<Record<string, (parts: Parts) => string>> = {
      'a delta with text': ({ start, delta }) => start + textStart + delta('Hi'),
      thinking: ({ start, thinking }) => start + thinking('Hm.'),
      'the start of a tool call': ({ start }) =>
        `${start}event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"look","input":{}}}\n\n`,
      'a stop reason': ({ start, end }) => start + end,
    };
    for (const [what, first] of Object.entries(something))
      it(`is no more after ${what}: it is sent at once, and silence is filled`, async () => {
        const { goOn } = await start(first, ({ end, stop }) => end + stop);
        const response = await under.post('/v1/messages', ask('Hello!', { stream: true }));
        expect(response.status).to.equal(200);
        const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
        let text = '';
        while (!text.includes('event: ping')) text += (await reader.read()).value ?? '';
        expect(text).to.match(/^event: message_start\n/);
        goOn();
        for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
        expect(text).to.match(/event: message_stop\ndata: [^\n]+\n\n$/);
      });

    it('of a whole answer, which is its end, nothing is sent', async () => {
      const { sent, goOn } = await start(
        ({ start, text }) => start + text('Hi'),
        ({ end, stop }) => end + stop,
      );
      const responding = under.post('/v1/messages', ask('Hello!'));
      let hasAnswered = false;
      void responding.then(() => (hasAnswered = true));
      await sent;
      await keepAlivePeriods(3);
      expect(hasAnswered).to.equal(false);
      goOn();
      expect(await (await responding).text()).to.include('"Hi"');
    });

    it('in the other formats silence after it is filled with comments', async () => {
      const { goOn } = await start(
        ({ start, delta }) => start + textStart + delta('Hi'),
        ({ end, stop }) => end + stop,
      );
      for (const path of ['/v1/chat/completions']) {
        const response = await under.post(path, { ...bodies[path]!('Hello!'), stream: true });
        const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
        let text = '';
        while (!text.includes('\n: keep-alive\n\n')) text += (await reader.read()).value ?? '';
        goOn();
        for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
        expect(text).to.match(/data: \[DONE\]\n\n$/);
      }
    });

    /** Time itself is the matter here: so many times the silence after which a stream would say that it lives. */
    function keepAlivePeriods(count: number): Promise<void> {
      return new Promise((resolve) => setTimeout(resolve, count * 20));
    }
  });

  describe('on the wire', () => {
    /** The chunks of the transfer encoding, which are the writes of the gateway. */
    async function writes(path: string, body: object): Promise<readonly string[]> {
      const socket = connect(Number(new URL(pair.url).port), '127.0.0.1');
      const text = JSON.stringify(body);
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${masterKey}\r\ncontent-type: application/json\r\n` +
          `connection: close\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
      );
      let received = '';
      socket.setEncoding('latin1').on('data', (piece: string) => (received += piece));
      await once(socket, 'close');
      let rest = received.slice(received.indexOf('\r\n\r\n') + 4);
      const chunks: string[] = [];
      for (let size = Number.parseInt(rest, 16); size > 0; size = Number.parseInt(rest, 16)) {
        const start = rest.indexOf('\r\n') + 2;
        chunks.push(rest.slice(start, start + size));
        rest = rest.slice(start + size + 2);
      }
      return chunks;
    }

    for (const [path, body] of Object.entries(bodies)) {
      it(`what arrived together leaves in one write (${path})`, async () => {
        const chunks = await writes(path, { ...body('[[sim:tokens n=64]]'), stream: true });
        expect(chunks.length).to.be.at.most(3);
      });

      it(`no event is cut in two by a write (${path})`, async () => {
        const chunks = await writes(path, { ...body('[[sim:tokens n=20]][[sim:bytes]]'), stream: true });
        expect(chunks.length).to.be.greaterThan(5);
        for (const chunk of chunks) expect(chunk).to.match(/^(event|data|:)[^]*\n\n$/);
      });
    }
  });
});
