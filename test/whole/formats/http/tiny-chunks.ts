import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { ProcessWorkshop } from '../../gateway-process.js';
import { RawClient, head } from '../../raw-client.js';

const key = 'the-master-key';
export const megabyte = 1024 * 1024;

const yaml = `pipeline:
${['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'].map((use) => `  - use: ${use}\n`).join('')}
slots: [{ id: a, upstream: simulator, models: [sonnet-5] }]
`;

/** A body that is refused as soon as it has been parsed. */
export function bodyOf(bytes: number): Buffer {
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

export function* largeChunks(body: Buffer): Generator<Buffer> {
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

/** What a body costs a gateway in a process of its own. */
export class ChunkWorkshop {
  readonly #workshop = new ProcessWorkshop();

  /** Status of the answer, and the most memory that the process has had beyond what it had before. */
  async costOf(
    path: string,
    body: Buffer,
    headers: object = {},
    inChunks = oneByteChunks,
  ): Promise<{ status: number; extra: number }> {
    const { gateway, url } = await this.#start();
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

  end(): Promise<void> {
    return this.#workshop.end();
  }

  async #start() {
    const cwd = await this.#workshop.folder({ 'gateway.yaml': yaml });
    const gateway = await this.#workshop.start({
      cwd,
      args: ['--config', 'gateway.yaml'],
      env: { GW2API_API_KEY: key },
    });
    return { gateway, url: await gateway.url() };
  }
}

async function sendAll(client: RawClient, pieces: Iterable<Buffer>): Promise<void> {
  for (const piece of pieces) if (!client.socket.write(piece)) await once(client.socket, 'drain');
}
