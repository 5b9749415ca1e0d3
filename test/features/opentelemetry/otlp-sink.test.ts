import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { fakeHost, ManualClock } from '@gw2api/gateway/testing';
import { systemClock, type Clock } from '#src/plugin/index.js';
import { attribute, listJson } from '#src/features/opentelemetry/attributes.js';
import { openOtlpSink } from '#src/features/opentelemetry/otlp-sink.js';
import { targetOf } from '#src/features/opentelemetry/otlp-target.js';
import type { SpanData } from '#src/features/opentelemetry/traced-request.js';
import { eventually } from '../../eventually.js';

interface Loss {
  readonly spans: number;
  readonly err: Error;
}

describe('exports of spans', () => {
  let server: Server;
  let posts: string[];
  let answer: (res: ServerResponse) => void;
  beforeEach(async () => {
    posts = [];
    server = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => void chunks.push(chunk));
      req.on('end', () => {
        posts.push(Buffer.concat(chunks).toString());
        answer(res);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  function open(clock: Clock = systemClock) {
    const { log, logged } = fakeHost();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const service = { name: 's', version: '1', instance: 'i' };
    const sink = openOtlpSink({ url, headers: {}, service, log, clock });
    return { sink, lost: () => logged.map(({ fields }) => fields as Loss) };
  }

  it('tell of all spans that were lost, also of those after the first warning', async () => {
    answer = (res) => res.writeHead(400).end();
    const { sink, lost } = open();
    sink.add(spans(512));
    await eventually(() => lost().length === 1);
    sink.add(spans(512));
    sink.add(spans(3));
    await sink.close();
    expect(lost().map(({ spans }) => spans)).to.deep.equal([512, 515]);
  });

  it('tell of the spans that a collector refuses among those that it takes', async () => {
    const partialSuccess = { rejectedSpans: '2', errorMessage: 'too old' };
    answer = (res) => res.end(JSON.stringify({ partialSuccess }));
    const { sink, lost } = open();
    sink.add(spans(5));
    await sink.close();
    expect(lost().map(({ spans }) => spans)).to.deep.equal([2]);
    expect(lost()[0]!.err.message).to.contain('too old');
  });

  /** A clock that moves by hand, and the times that were waited for. */
  function watchedClock() {
    const hand = new ManualClock();
    const waits: number[] = [];
    const setTimer: Clock['setTimer'] = (callback, ms) => {
      waits.push(ms);
      return hand.setTimer(callback, ms);
    };
    return { hand, waits, clock: { now: hand.now, monotonicMs: hand.monotonicMs, setTimer } };
  }

  it('are sent again when the collector says, within a minute, else after a backoff with jitter', async () => {
    for (const [header, least, most] of [
      ['7', 7000, 7000],
      ['Thu, 01 Jan 2026 00:00:21 GMT', 20_000, 20_000], // the queue has waited for a second
      ['3600', 60_000, 60_000],
      ['0', 1000, 1000],
      ['-5', 1000, 1000],
      ['soon', 500, 1000],
      [undefined, 500, 1000],
    ] as const) {
      const { hand, waits, clock } = watchedClock();
      posts = [];
      answer = (res) => {
        if (posts.length > 1) res.end('{}');
        else res.writeHead(429, header === undefined ? {} : { 'retry-after': header }).end();
      };
      const { sink, lost } = open(clock);
      sink.add(spans(1));
      hand.pass(1000);
      await eventually(() => waits.length === 3); // of the queue, of the answer, and the pause
      expect(waits[2], header).to.be.within(least, most);
      hand.pass(waits[2]! - 1);
      expect(posts).to.have.length(1);
      hand.pass(1);
      await eventually(() => posts.length === 2);
      await sink.close();
      expect(lost()).to.deep.equal([]);
    }
  });

  it('are lost where the collector asks for further pauses after a minute', async () => {
    const { hand, waits, clock } = watchedClock();
    answer = (res) => res.writeHead(503, { 'retry-after': '45' }).end();
    const { sink, lost } = open(clock);
    sink.add(spans(3));
    hand.pass(1000);
    await eventually(() => waits.length === 3);
    hand.pass(45_000);
    await eventually(() => waits.length === 5);
    hand.pass(15_000);
    await eventually(() => lost().length === 1);
    expect([posts.length, waits[4], lost()[0]!.spans]).to.deep.equal([3, 15_000, 3]);
    await sink.close();
  });

  it('are not sent again where the answer to them does not end', async () => {
    answer = (res) => {
      res.writeHead(200).write('{');
      setImmediate(() => res.destroy());
    };
    const { sink, lost } = open();
    sink.add(spans(1));
    await sink.close();
    expect([posts.length, lost()]).to.deep.equal([1, []]);
  });

  it('have integers as texts, and no number that JSON or int64 lacks', () => {
    const numbers = [3, -0, 0.5, 1e300, 1e19, Infinity, Number.NaN];
    const json = listJson(numbers.map((number) => attribute('a', number)).join(''));
    expect((JSON.parse(json) as { value: object }[]).map(({ value }) => value)).to.deep.equal([
      { intValue: '3' },
      { intValue: '0' },
      { doubleValue: 0.5 },
      { doubleValue: 1e300 },
      { doubleValue: 1e19 },
      { doubleValue: 'Infinity' },
      { doubleValue: 'NaN' },
    ]);
  });

  it('go to the address of the config, whose path, query and user are kept', () => {
    const urlOf = (address: string) => targetOf(address, {}).url;
    for (const end of ['', '/', '//', '/v1/traces', '/v1/traces/'])
      expect(urlOf(`http://one:4318${end}`), end).to.equal('http://one:4318/v1/traces');
    expect(urlOf('https://one/otlp/?a=/b/')).to.equal('https://one/otlp/v1/traces?a=/b/');
    const { url, headers } = targetOf('http://us%3Aer:pa%ss@one', {});
    expect(url).to.equal('http://one/v1/traces');
    expect(headers['authorization']).to.equal(`Basic ${btoa('us:er:pa%ss')}`);
    expect(targetOf('http://u:p@one', { Authorization: 'Bearer t' }).headers['authorization']).to.equal(
      'Bearer t',
    );
  });
});

function spans(count: number): readonly SpanData[] {
  return Array.from({ length: count }, () => ({
    traceId: '1'.repeat(32),
    spanId: '1'.repeat(16),
    parent: undefined,
    state: undefined,
    name: 'a',
    kind: 'internal',
    beganMs: 1,
    endedMs: 2,
    attributes: '',
    error: undefined,
  }));
}
