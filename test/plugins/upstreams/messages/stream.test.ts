import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import {
  brotliCompressSync,
  createBrotliCompress,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
} from 'node:zlib';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { isGatewayError, type ModelEventBatch } from '@gw2api/gateway/plugin';
import {
  Kit,
  type Listener,
  aCall,
  answer,
  collect,
  eventStream,
  later,
  rejection,
  sse,
  turn,
} from '../../../engine/transport/upstream-kit.js';

const whole = answer.start + answer.delta('Héllo 👋') + answer.stop;

describe('the events of an answer', () => {
  const kit = new Kit();
  afterEach(() => kit.close());

  async function generate(listener: Listener, overrides: Parameters<typeof aCall>[0] = {}) {
    const upstream = await kit.open(await kit.serve(listener));
    return (await upstream.generate(aCall(overrides))).events;
  }

  it('come in one batch where they arrived in one read, however many chunks that had', async () => {
    const chunks = Array.from({ length: 50 }, (_, at) => answer.delta(String(at)));
    const url = await kit.serveSockets((socket) => {
      const all = [answer.start, ...chunks, answer.stop].map(chunked);
      socket.once('data', () => socket.write(`${streamHead}${all.join('')}0\r\n\r\n`));
    });
    const { events } = await (await kit.open(url)).generate(aCall());
    const batches: ModelEventBatch[] = [];
    for await (const batch of events) batches.push(batch);
    expect(batches.map(({ length }) => length)).to.deep.equal([54]);
  });

  it('come as soon as they arrive', async () => {
    const { promise, resolve } = later<ServerResponse>();
    const events = await generate((_, response) => {
      response.writeHead(200, eventStream).write(answer.start);
      resolve(response);
    });
    const iterator = events[Symbol.asyncIterator]();
    expect(types(await iterator.next())).to.deep.equal(['message_start']);
    const response = await promise;
    const next = iterator.next();
    response.write(answer.delta('a'));
    expect(types(await next)).to.deep.equal(['content_block_start', 'content_block_delta']);
    response.end(answer.stop);
    expect(types(await iterator.next())).to.deep.equal(['content_block_stop', 'message_stop']);
    expect(await iterator.next()).to.deep.equal({ done: true, value: undefined });
    expect(await iterator.next()).to.deep.equal({ done: true, value: undefined });
  });

  for (const [name, encode] of Object.entries({
    gzip: gzipSync,
    'x-gzip': gzipSync,
    br: brotliCompressSync,
    deflate: deflateSync,
    'Deflate ': deflateRawSync,
  })) {
    it(`are decoded from ${name}`, async () => {
      const events = await generate((_, response) =>
        response.writeHead(200, { ...eventStream, 'content-encoding': name }).end(encode(whole)),
      );
      const all = await collect(events);
      expect(all.error).to.equal(undefined);
      expect(all.events.map(({ data }) => data)[2]).to.contain('Héllo 👋');
      expect(all.events).to.have.length(5);
    });
  }

  for (const [name, open] of Object.entries({ gzip: createGzip, br: createBrotliCompress })) {
    it(`come out of ${name} piece by piece as the upstream flushes it`, async () => {
      const encoder = open();
      const events = await generate((_, response) => {
        response.writeHead(200, { ...eventStream, 'content-encoding': name });
        encoder.pipe(response);
        encoder.write(answer.start);
        encoder.flush();
      });
      const iterator = events[Symbol.asyncIterator]();
      expect(types(await iterator.next())).to.deep.equal(['message_start']);
      encoder.end(answer.stop);
      expect(types(await iterator.next())).to.deep.equal(['message_stop']);
    });
  }

  it('come whole out of a compressed answer that is larger than all buffers, read slowly', async () => {
    const noise = Array.from({ length: 400 }, () => answer.delta(randomBytes(8192).toString('base64')));
    const body = gzipSync([answer.start, ...noise, answer.stop].join(''));
    const events = await generate((_, response) =>
      response.writeHead(200, { ...eventStream, 'content-encoding': 'gzip' }).end(body),
    );
    let count = 0;
    for await (const batch of events) {
      expect(batch.length).to.be.lessThan(40);
      count += batch.length;
      await turn();
    }
    expect(count).to.equal(404);
  });

  it('break off where their encoding is broken', async () => {
    const events = await generate((_, response) =>
      response.writeHead(200, { ...eventStream, 'content-encoding': 'gzip' }).end('not gzip'),
    );
    expect((await collect(events)).error).to.include({ code: 'upstream_interrupted' });
  });

  it('break off where a compressed answer is cut, after what had come', async () => {
    const encoder = createGzip();
    const events = await generate((_, response) => {
      response.writeHead(200, { ...eventStream, 'content-encoding': 'gzip' });
      encoder.on('data', (piece) => response.write(piece));
      encoder.write(answer.start);
      encoder.flush(() => setImmediate(() => response.end()));
    });
    const all = await collect(events);
    expect(all.events).to.have.length(1);
    expect(all.error).to.include({ code: 'upstream_interrupted' });
  });

  describe('without message_stop', () => {
    it('give what had come and then throw upstream_interrupted, where the socket is cut', async () => {
      const events = await generate((_, response) => {
        response.writeHead(200, eventStream).write(answer.start, () => response.destroy());
      });
      const all = await collect(events);
      expect(all.events).to.have.length(1);
      expect(all.error).to.deep.include({
        code: 'upstream_interrupted',
        status: 502,
        failure: { kind: 'interrupted' },
      });
    });

    it('throw upstream_interrupted where the stream just ends, once', async () => {
      const events = await generate((_, response) => response.writeHead(200, eventStream).end(answer.start));
      const iterator = events[Symbol.asyncIterator]();
      await iterator.next();
      expect(await rejection(iterator.next())).to.include({ code: 'upstream_interrupted' });
      expect(await iterator.next()).to.deep.equal({ done: true, value: undefined });
    });

    it('throw what an error event says, once it has been read', async () => {
      const error = { type: 'overloaded_error', message: 'Overloaded' };
      const events = await generate((_, response) => {
        response
          .writeHead(200, eventStream)
          .write(answer.start + sse({ type: 'error', error } as { type: string }));
      });
      const all = await collect(events);
      expect(all.events.map(({ type }) => type)).to.deep.equal(['message_start', 'error']);
      expect(all.error).to.include({ code: 'overloaded_error', status: 529, message: 'Overloaded' });
    });

    it('throw upstream_timeout after a silence, in which a comment counts for life', async () => {
      const idleTimeoutMs = 300;
      let comments = 0;
      const events = await generate(
        (_, response) => {
          response.writeHead(200, eventStream).write(answer.start);
          const timer = setInterval(() => {
            response.write(': still here\n\n');
            if ((comments += 1) === 8) clearInterval(timer);
          }, idleTimeoutMs / 6);
        },
        { idleTimeoutMs },
      );
      const all = await collect(events);
      expect(comments).to.equal(8);
      expect(all.events).to.have.length(1);
      expect(all.error).to.deep.include({
        code: 'upstream_timeout',
        status: 504,
        failure: { kind: 'timeout' },
      });
    });
  });

  for (const cut of [1, 2])
    it(`are complete at a clean end that ${cut} line feeds are missing from`, async () => {
      const events = await generate((_, response) =>
        response.writeHead(200, eventStream).end(whole.slice(0, -cut)),
      );
      const { events: all, error } = await collect(events);
      expect(error).to.equal(undefined);
      expect(all.at(-1)?.type).to.equal('message_stop');
    });

  it('are not complete where the socket was destroyed instead', async () => {
    const events = await generate((_, response) => {
      response.writeHead(200, eventStream).write(whole.slice(0, -2), () => response.destroy());
    });
    expect((await collect(events)).error).to.include({ code: 'upstream_interrupted' });
  });

  it('are never silent for too long before content, and are after it', async () => {
    const content = { hasCome: false };
    const idleTimeoutMs = 50;
    const events = await generate(
      (_, response) => {
        response.writeHead(200, eventStream).write(answer.start);
        setTimeout(() => response.write(answer.delta('Hello')), idleTimeoutMs * 5);
      },
      { idleTimeoutMs, hasContent: () => content.hasCome },
    );
    const seen: string[] = [];
    const error = await rejection(
      (async () => {
        for await (const batch of events) {
          seen.push(...batch.map(({ type }) => type));
          content.hasCome = seen.includes('content_block_delta');
        }
      })(),
    );
    expect(seen).to.deep.equal(['message_start', 'content_block_start', 'content_block_delta']);
    expect(error).to.include({ code: 'upstream_timeout' });
  });

  describe('after message_stop', () => {
    it('are complete, whatever becomes of the socket', async () => {
      const events = await generate((_, response) => {
        response.writeHead(200, eventStream).write(whole, () => response.destroy());
      });
      const all = await collect(events);
      expect(all).to.include({ error: undefined });
      expect(all.events).to.have.length(5);
    });

    it('are complete while the upstream keeps its answer open, which it may for a second', async () => {
      const { promise, resolve } = later<ServerResponse>();
      const controller = new AbortController();
      const events = await generate(
        (_, response) => {
          response.writeHead(200, eventStream).write(whole);
          resolve(response);
        },
        { signal: controller.signal },
      );
      expect((await collect(events)).error).to.equal(undefined);
      controller.abort();
      const response = await promise;
      const startedAt = performance.now();
      await once(response, 'close');
      expect(performance.now() - startedAt).to.be.greaterThan(500);
    });

    it('leave the connection in peace, though the caller is gone by then', async () => {
      const sockets = new Set<Socket>();
      const upstream = await kit.open(
        await kit.serve((request, response) => {
          sockets.add(request.socket);
          response.writeHead(200, eventStream).write(whole);
          setImmediate(() => response.end());
        }),
      );
      for (let call = 0; call < 4; call += 1) {
        const controller = new AbortController();
        const { events } = await upstream.generate(aCall({ signal: controller.signal }));
        for await (const batch of events) if (batch.at(-1)?.type === 'message_stop') break;
        controller.abort();
      }
      expect([...sockets].filter(({ destroyed }) => destroyed)).to.deep.equal([]);
    });

    it('leave the connection for the next call', async () => {
      const ports = new Set<number | undefined>();
      const upstream = await kit.open(
        await kit.serve((request, response) => {
          ports.add(request.socket.remotePort);
          response.writeHead(200, eventStream).end(whole);
        }),
      );
      for (let call = 0; call < 3; call += 1) {
        await collect((await upstream.generate(aCall())).events);
        await turn();
      }
      expect(ports.size).to.equal(1);
    });
  });

  for (const [encoding, encode] of Object.entries({ identity: (text: string) => text, gzip: gzipSync })) {
    it(`stop the upstream while nobody reads them, and go on when someone does (${encoding})`, async () => {
      const total = 48 * 1024 * 1024;
      const piece = encode(answer.delta(randomBytes(48 * 1024).toString('base64')));
      const { promise: stalled, resolve: onStalled } = later<number>();
      const sent = { bytes: 0 };
      const events = await generate((_, response) => {
        response.writeHead(200, { ...eventStream, 'content-encoding': encoding }).write(encode(answer.start));
        void pump(response, piece, encode(answer.stop), total, sent, onStalled);
      });
      // What the two sockets hold is the kernel's affair; what we hold is the next batch.
      expect(await stalled).to.be.lessThan(total / 3);
      const lengths: number[] = [];
      for await (const batch of events) lengths.push(batch.length);
      expect(lengths.at(0)).to.be.lessThan(8);
      expect(sent.bytes).to.be.at.least(total);
      expect(lengths.reduce((sum, length) => sum + length)).to.equal(Math.ceil(total / piece.length) + 4);
    });
  }

  it('do not count the time in which we hold the upstream back for its silence', async () => {
    const piece = answer.delta('x'.repeat(64 * 1024));
    const { promise: stalled, resolve: onStalled } = later<number>();
    const events = await generate(
      (_, response) => {
        response.writeHead(200, eventStream).write(answer.start);
        void pump(response, piece, answer.stop, 32 * 1024 * 1024, { bytes: 0 }, onStalled, 800);
      },
      { idleTimeoutMs: 500 },
    );
    await stalled;
    const all = await collect(events);
    expect(isGatewayError(all.error) && all.error.failure?.kind).to.not.equal('timeout');
    expect(all.events.at(-1)?.type).to.equal('message_stop');
  });
});

const streamHead = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

function chunked(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

function types(result: IteratorResult<ModelEventBatch>): readonly string[] {
  return result.done ? [] : result.value.map(({ type }) => type);
}

/** Writes until `total`, and tells when the socket has taken nothing for `stallMs`. */
async function pump(
  response: ServerResponse,
  piece: string | Buffer,
  last: string | Buffer,
  total: number,
  sent: { bytes: number },
  onStalled: (bytes: number) => void,
  stallMs = 300,
): Promise<void> {
  const stall = setTimeout(() => onStalled(sent.bytes), stallMs);
  while (sent.bytes < total) {
    sent.bytes += piece.length;
    stall.refresh();
    if (!response.write(piece)) await once(response, 'drain');
  }
  response.end(last);
}
