import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ProcessWorkshop } from './gateway-process.js';
import { RawClient, head } from './raw-client.js';

const key = 'the-master-key';
const megabyte = 1024 * 1024;

const yaml = `pipeline:
${['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'].map((use) => `  - use: ${use}\n`).join('')}
slots: [{ id: a, upstream: simulator, models: [sonnet-5] }]
`;

/** A body that is refused as soon as it has been parsed. */
function bodyOf(bytes: number): Buffer {
  return Buffer.from(JSON.stringify({ model: 'unknown', max_tokens: 9, messages: 'x'.repeat(bytes) }));
}

/** Chunks of a byte each, many of them in one buffer. */
function* oneByteChunks(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += batch) {
    const bytes = body.subarray(at, at + batch);
    const chunks = Buffer.alloc(bytes.length * 6, '1\r\n?\r\n');
    for (let index = 0; index < bytes.length; index += 1) chunks[index * 6 + 3] = bytes[index]!;
    yield chunks;
  }
  yield Buffer.from('0\r\n\r\n');
}

const batch = 10_000;

function* largeChunks(body: Buffer): Generator<Buffer> {
  const bytes = 60_000;
  for (let at = 0; at < body.length; at += bytes) {
    const chunk = body.subarray(at, at + bytes);
    yield Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]);
  }
  yield Buffer.from('0\r\n\r\n');
}

/** Max resident memory of a process since `resetPeak`. */
async function peakBytes(pid: number): Promise<number> {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

async function resetPeak(pid: number): Promise<number> {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  return peakBytes(pid);
}

describe('a body in chunks', function () {
  if (process.platform !== 'linux') return;
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  async function start() {
    const cwd = await workshop.folder({ 'gateway.yaml': yaml });
    const gateway = await workshop.start({
      cwd,
      args: ['--config', 'gateway.yaml'],
      env: { GW2API_API_KEY: key },
    });
    return { gateway, url: await gateway.url() };
  }

  async function sendAll(client: RawClient, pieces: Iterable<Buffer>): Promise<void> {
    for (const piece of pieces) if (!client.socket.write(piece)) await once(client.socket, 'drain');
  }

  async function costOf(
    path: string,
    body: Buffer,
    headers: object = {},
    inChunks = oneByteChunks,
  ): Promise<{ status: number; extra: number }> {
    const { gateway, url } = await start();
    const fields = { 'x-api-key': key, 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    const send = async (chunks: Iterable<Buffer>, added: object) => {
      const client = await RawClient.open(url);
      client.send(`${head(`POST ${path}`, { ...fields, ...added })}\r\n`);
      await sendAll(client, chunks);
      const { status } = await client.answer();
      client.close();
      return status;
    };
    // Loads its code, and lets V8's young generation grow as far as it does under any load (48 MB on Node 24).
    await send(oneByteChunks(bodyOf(megabyte)), {});
    const before = await resetPeak(gateway.pid);
    const status = await send(inChunks(body), headers);
    return { status, extra: (await peakBytes(gateway.pid)) - before };
  }

  it('of one byte costs at most three times its size and 32 MB', async () => {
    const body = bodyOf(2 * megabyte);
    const { status, extra } = await costOf('/v1/messages', body);
    expect(status).to.equal(400);
    expect(extra).to.be.below(3 * body.length + 32 * megabyte);
  }).timeout(60_000);

  it('of 60 kB costs no more', async () => {
    const body = bodyOf(80 * megabyte);
    const { status, extra } = await costOf('/v1/messages', body, {}, largeChunks);
    expect(status).to.equal(400);
    expect(extra).to.be.below(3 * body.length + 32 * megabyte);
  }).timeout(120_000);

  it('costs no more where it is compressed', async () => {
    const body = bodyOf(300_000);
    const { status, extra } = await costOf('/v1/messages', gzipSync(body, { level: 0 }), {
      'content-encoding': 'gzip',
    });
    expect(status).to.equal(400);
    expect(extra).to.be.below(3 * body.length + 32 * megabyte);
  }).timeout(60_000);
});
