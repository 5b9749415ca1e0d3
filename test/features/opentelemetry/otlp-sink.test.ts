import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { diag } from '@opentelemetry/api';
import { expect } from 'chai';
import { fakeHost, ManualClock } from '@gw2api/gateway/testing';
import { systemClock, type Clock } from '#src/plugin/index.js';
import type { ExportSettings } from '#src/config/sections/telemetry.js';
import { attributesOf } from '#src/features/opentelemetry/attributes.js';
import { openOtlpSink, targetOf } from '#src/features/opentelemetry/otlp-sink.js';
import type { SpanData } from '#src/features/opentelemetry/traced-request.js';
import { eventually } from '../../eventually.js';
import type { Export } from './collector.js';

/** Spans of a full batch, which is exported at once. */
const batch = 512;

const plain = {
  headers: {},
  protocol: 'http/json',
  compression: 'none',
  timeoutMs: 10_000,
} as const;

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

  function open(clock: Clock = systemClock, settings: Partial<ExportSettings> = {}) {
    const { log, logged } = fakeHost();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const service = { name: 's', version: '1', instance: 'i' };
    const exports = { ...plain, endpoint: { url, isExact: false }, ...settings };
    const sink = openOtlpSink({ exports, service, log, clock });
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

  it('leave no timer behind', async () => {
    answer = (res) => res.writeHead(400).end();
    const clock = new ManualClock();
    const { sink, lost } = open(clock);
    sink.add(spans(batch));
    await eventually(() => lost().length === 1);
    sink.add(spans(3));
    await sink.close();
    expect([lost().length, clock.timers]).to.deep.equal([2, 0]);
  });

  it('are sent again when the collector says, within a minute, else after a backoff with jitter', async () => {
    for (const [header, least, most] of [
      ['7', 7000, 7000],
      ['Thu, 01 Jan 2026 00:00:20 GMT', 20_000, 20_000],
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
      sink.add(spans(batch));
      await eventually(() => waits.length === 2); // of the answer, and the pause
      expect(waits[1], header).to.be.within(least, most);
      hand.pass(waits[1]! - 1);
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
    sink.add(spans(batch));
    await eventually(() => waits.length === 2);
    hand.pass(45_000);
    await eventually(() => waits.length === 4);
    hand.pass(15_000);
    await eventually(() => lost().length === 1);
    expect([posts.length, waits[3], lost()[0]!.spans]).to.deep.equal([3, 15_000, batch]);
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

  it('have no number that JSON or int64 lacks, which would cost the whole export', async () => {
    answer = (res) => res.end('{}');
    const numbers = [3, -2, 0.5, 1e300, 1e19, Infinity, Number.NaN];
    const attributes = attributesOf(numbers.map((number, at) => [String(at), number]));
    const { sink } = open();
    sink.add([{ ...spans(1)[0]!, attributes }]);
    await sink.close();
    const sent = JSON.parse(posts[0]!) as Export;
    const values = sent.resourceSpans[0]!.scopeSpans[0]!.spans[0]!.attributes.map(({ value }) => value);
    expect(values).to.deep.equal([
      { intValue: 3 },
      { intValue: -2 },
      { doubleValue: 0.5 },
      ...['1e+300', '10000000000000000000', 'Infinity', 'NaN'].map((stringValue) => ({ stringValue })),
    ]);
  });

  it('tell of what a collector refuses in protobuf too', async () => {
    // partial_success { rejected_spans: 3, error_message: "too new" }
    answer = (res) => res.end(Buffer.from([10, 11, 8, 3, 18, 7, ...Buffer.from('too new')]));
    const { sink, lost } = open(systemClock, { protocol: 'http/protobuf' });
    sink.add(spans(5));
    await sink.close();
    expect(lost().map(({ spans }) => spans)).to.deep.equal([3]);
    expect(lost()[0]!.err.message).to.contain('too new');
  });

  it('tell nothing of an answer that is not one of OTLP, nor to the log of the whole process', async () => {
    const told: unknown[] = [];
    const tell = (...words: unknown[]) => void told.push(words);
    diag.setLogger({ error: tell, warn: tell, info: tell, debug: () => undefined, verbose: () => undefined });
    const texts = [
      '',
      'null',
      '[]',
      '"ok"',
      '{"partialSuccess":null}',
      '{"partialSuccess":{"rejectedSpans":"x"}}',
    ];
    for (const protocol of ['http/json', 'http/protobuf'] as const) {
      for (const text of [...texts, 'OK', '\u0080\u0080']) {
        answer = (res) => res.end(text);
        const { sink, lost } = open(systemClock, { protocol });
        sink.add(spans(5));
        await sink.close();
        expect(lost(), text).to.deep.equal([]);
      }
    }
    diag.disable();
    expect(told).to.deep.equal([]);
  });

  it('end 3 s after the close where the collector hangs, and are told of', async () => {
    answer = () => undefined;
    const { sink, lost } = open();
    sink.add(spans(2 * batch + 1));
    const began = performance.now();
    await sink.close();
    expect(performance.now() - began).to.be.within(2900, 4500);
    expect(lost().reduce((sum, { spans }) => sum + spans, 0)).to.equal(2 * batch + 1);
    expect(lost()[0]!.err.message).to.equal('The gateway closed before the collector answered.');
  });

  it('have as long for an attempt as half of their time', async () => {
    const { waits, clock } = watchedClock();
    answer = (res) => res.end('{}');
    const { sink } = open(clock, { timeoutMs: 60_000 });
    sink.add(spans(batch));
    await eventually(() => posts.length === 1);
    expect(waits).to.deep.equal([30_000]);
    await sink.close();
  });

  it('go to the address of the config, whose path, query and user are kept', () => {
    const target = (url: string, headers = {}) =>
      targetOf({ ...plain, endpoint: { url, isExact: false }, headers });
    const urlOf = (address: string) => target(address).url;
    for (const end of ['', '/', '//', '/v1/traces', '/v1/traces/'])
      expect(urlOf(`http://one:4318${end}`), end).to.equal('http://one:4318/v1/traces');
    expect(urlOf('https://one/otlp/?a=/b/')).to.equal('https://one/otlp/v1/traces?a=/b/');
    const { url, headers } = target('http://us%3Aer:pa%ss@one');
    expect(url).to.equal('http://one/v1/traces');
    expect(headers['authorization']).to.equal(`Basic ${btoa('us:er:pa%ss')}`);
    const given = target('http://u:p@one', { Authorization: 'Bearer t' });
    expect(given.headers['authorization']).to.equal('Bearer t');
    const exact = { url: 'http://one/spans/', isExact: true };
    expect(targetOf({ ...plain, endpoint: exact }).url).to.equal('http://one/spans/');
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
    attributes: {},
    error: undefined,
  }));
}
