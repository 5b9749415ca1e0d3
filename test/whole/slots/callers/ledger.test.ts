import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer, connect, type Socket } from 'node:net';
import path from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import { expect } from 'chai';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import { issueKey } from '#src/state/keys/keys.js';
import { openStore } from '#src/state/store/index.js';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { ownFolder, ownPostgres, postgresUrl, quiet, type Place } from '../../../state/store/stores.js';
import { GatewayProcess } from '../../gateway-process.js';
import {
  ask,
  configOf,
  slotAt,
  startGateway,
  startPair,
  type GatewayUnderTest,
  type Pair,
} from '../../harness.js';
import { writeIn } from '../../temp-folders.js';

describe('the ledger of a gateway', () => {
  let pair: Pair;
  beforeEach(async () => {
    pair = await startPair();
  });
  afterEach(() => pair.close());

  it('has a row for each request to a model: what was asked, who answered, and what it cost', async () => {
    const answer = await pair.post('/v1/messages', ask('Hi'), { 'x-request-id': 'mine' });
    const { usage } = (await answer.json()) as { usage: Record<string, number> };
    const [row] = await rowsOf(pair, 1);
    expect(row).to.deep.include({
      requestId: 'mine',
      keyId: 'master',
      slot: 'a',
      model: 'sonnet-5',
      format: 'messages',
      status: 200,
      failed: false,
      streamed: false,
      attempts: 1,
    });
    expect(row!.shown).to.deep.include({ input: usage['input_tokens'], output: usage['output_tokens'] });
    expect(row!.billed.output).to.equal(usage['output_tokens']);
    expect(total(row!.billed)).to.be.greaterThan(total(row!.shown));
    expect(row!.firstEventMs).to.be.within(0, row!.durationMs);
  });

  it('has the code of a request that failed, and the key that it came with', async () => {
    const { text, key } = issueKey({ name: 'team' }, Date.now());
    await pair.gateway.services.store.keys.put(key);
    const answer = await pair.post('/v1/chat/completions', { model: 'sonnet-5' }, { 'x-api-key': text });
    expect(answer.status).to.equal(400);
    await answer.text();
    const [row] = await rowsOf(pair, 1);
    expect(row).to.include({
      keyId: key.id,
      format: 'chat',
      status: 400,
      code: 'invalid_request',
      failed: true,
    });
    expect(row!.attempts).to.equal(0);
  });

  it('takes whatever a caller calls a model', async () => {
    const model = `\0 half \ud800 ${'long '.repeat(100)}`;
    await (await pair.post('/v1/messages', ask('Hi', { model }))).text();
    const [row] = await rowsOf(pair, 1);
    expect(row!.model).to.have.length(200).and.not.include('\0');
  });

  it('has no row for what is no request to a model, nor for a caller without a key', async () => {
    await (await pair.get('/v1/models')).text();
    await (await pair.post('/v1/messages', ask('Hi'), { 'x-api-key': 'wrong' })).text();
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    expect(await rowsOf(pair, 1)).to.have.length(1);
  });
});

describe('a gateway with a SQLite file', () => {
  let folder: Place<string>;
  let simulator: Simulator;
  beforeEach(async () => {
    folder = await ownFolder();
    simulator = await startSimulator();
  });
  afterEach(async () => {
    await simulator.close();
    await folder.remove();
  });

  const config = () => ({ slots: [slotAt(simulator.url)], store: `sqlite:${folder.where}/data/gateway.db` });
  const open = () =>
    openStore({ kind: 'sqlite', file: path.join(folder.where, 'data/gateway.db') }, { log: quiet });

  it('knows its keys, its sessions and what it has told after it was stopped', async () => {
    const { text, key } = issueKey({ name: 'team' }, Date.now());
    const first = await startGateway(config());
    await first.gateway.services.store.keys.put(key);
    const headers = { 'x-api-key': text };
    const answer = await first.post('/v1/responses', { model: 'sonnet-5', input: 'Hi' }, headers);
    const { id } = (await answer.json()) as { id: string };
    await first.close();

    const second = await startGateway(config());
    expect((await second.get(`/v1/responses/${id}`, headers)).status).to.equal(200);
    const { rows } = await second.gateway.services.store.ledger.requests({}, { limit: 10 });
    expect(rows.map(({ keyId }) => keyId)).to.deep.equal([key.id]);
    expect((await second.gateway.services.store.keys.get(key.id))?.lastUsedAtMs).to.be.greaterThan(0);
    await second.close();
  });

  it('loses no more than the last second when it is killed', async () => {
    await writeIn(folder.where, 'config/gateway.yaml', configOf(config()));
    const env = { GW2API_API_KEY: 'master', GW_LOG_LEVEL: 'info' };
    const running = new GatewayProcess({ cwd: folder.where, env });
    const url = await running.url();
    const answeredAtMs: number[] = [];
    const olderThan = (ms: number, nowMs = Date.now()) =>
      answeredAtMs.filter((atMs) => atMs < nowMs - ms).length;
    const loops = Array.from({ length: 4 }, async () => {
      for (;;) {
        await request(url);
        answeredAtMs.push(Date.now());
        if (olderThan(1500) >= 40) running.signal('SIGKILL');
      }
    });
    await Promise.allSettled(loops);
    await running.ended;
    const killedAtMs = Date.now();
    const store = await open();
    const [sum] = await store.ledger.usage({
      fromMs: 0,
      toMs: Date.now(),
      by: null,
      stepMs: 3_600_000 * 24 * 36500,
    });
    await store.close();
    const safe = olderThan(1000, killedAtMs);
    expect(safe).to.be.at.least(40);
    expect(sum!.requests).to.be.within(safe, answeredAtMs.length + 4);
  });

  it('says in a line of its config that the file cannot be opened', async () => {
    await writeIn(folder.where, 'data', 'a file where the folder should be');
    const refusal = await startGateway(config()).catch((error: unknown) => error);
    expect(String(refusal)).to.match(/config:\d+:1 store: The SQLite file .*gateway\.db cannot be opened/);
  });
});

describe('a gateway whose PostgreSQL goes away', () => {
  if (postgresUrl === undefined) {
    it('is tested where GW_TEST_POSTGRES_URL names a server');
    return;
  }

  it('goes on with the keys that it knows, and catches up with its ledger', async () => {
    const folder = await ownFolder();
    const place = await ownPostgres(postgresUrl!);
    const gate = await openGate(new URL(place.where.url));
    const simulator = await startSimulator();
    const store = gate.url;
    const under = await startGateway({
      slots: [slotAt(simulator.url)],
      store,
      ledger: { spool: folder.where },
    });
    const { text, key } = issueKey({ name: 'team' }, Date.now());
    await under.gateway.services.store.keys.put(key);
    const status = async () => {
      const answer = await under.post('/v1/messages', ask('Hi'), { 'x-api-key': text });
      await answer.text();
      return answer.status;
    };
    expect(await status()).to.equal(200);

    gate.close();
    const whileGone = [];
    for (let time = 0; time < 20; time += 1) whileGone.push(await status());
    expect(new Set(whileGone)).to.deep.equal(new Set([200]));
    expect((await under.post('/v1/messages', ask('Hi'), { 'x-api-key': 'sk-gw-x' })).status).to.equal(503);

    while (!under.gateway.services.ledger.isDown)
      await under.gateway.services.ledger.flush().then(() => immediate());
    // A second file, where a drain has claimed the first one meanwhile.
    expect((await readdir(folder.where)).length).to.be.within(1, 2);

    gate.open();
    while (under.gateway.services.ledger.isDown) await immediate();
    const rows = await rowsOf(under, 21);
    expect(rows).to.have.length(21);
    await under.close();
    await simulator.close();
    gate.close();
    await place.remove();
    await folder.remove();
  });
});

/** The rows of the ledger, once there are as many. */
async function rowsOf({ gateway }: GatewayUnderTest, count: number): Promise<readonly LedgerRow[]> {
  for (;;) {
    await gateway.services.ledger.flush();
    const { rows } = await gateway.services.store.ledger.requests({}, { limit: 100 });
    if (rows.length >= count) return rows;
    await immediate();
  }
}

function total(tokens: LedgerRow['billed']): number {
  return tokens.input + tokens.cacheRead + tokens.cacheWrite5m + tokens.cacheWrite1h;
}

async function request(url: string): Promise<void> {
  const answer = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'master' },
    body: JSON.stringify(ask('Hi')),
  });
  await answer.text();
}

/** A way to a server that can be shut: its connections are cut, and no new ones are taken. */
async function openGate(target: URL) {
  const sockets = new Set<Socket>();
  let isOpen = true;
  const server = createServer((near) => {
    if (!isOpen) {
      near.destroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  server.unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  const address = server.address();
  url.port = String(typeof address === 'object' ? address?.port : '');
  return {
    url: url.href,
    open: () => void (isOpen = true),
    close() {
      isOpen = false;
      for (const socket of sockets) socket.destroy();
    },
  };
}
