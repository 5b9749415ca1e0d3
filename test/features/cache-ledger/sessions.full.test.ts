import { expect } from 'chai';
import { ManualClock } from '@gw2api/gateway/testing';
import { lostCost } from '#src/features/cache-ledger/cache-losses.js';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import { seeded } from '../../support/seeded.js';
import { slotAt, stages, startPair, type Pair } from '../../whole/harness.js';
import { TempFolders } from '../../whole/temp-folders.js';
import {
  answerTurn,
  mishaps,
  newConversation,
  requestOf,
  userTurn,
  type Mishap,
  type World,
} from './generated-session.js';
import { ownStages } from './own-stages.js';

const seed = 20_261_123;
const sessions = 200;

/** USD per million tokens. */
const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite5m: 3.75, cacheWrite1h: 6 };

describe('the cache ledger over generated sessions', function () {
  this.timeout(180_000); // some thousand requests
  const folders = new TempFolders();
  const clock = new ManualClock();
  let pair: Pair;

  before(async () => {
    const folder = await folders.make(ownStages.files);
    const slots = (url: string) => [
      slotAt(url, { price }),
      slotAt(url, { id: 'b', price, account: { kind: 'api-key', key: 'upstream-key-b' } }),
    ];
    const pipeline = ownStages.place(stages(), folder);
    pair = await startPair({ pipeline }, { clock, keep: 1 }, slots, { clock });
  });
  after(async () => {
    await pair.close();
    await folders.remove();
  });

  const random = seeded(Number(process.env['GW_TEST_SEED'] ?? seed));

  /** Makes the turns of one session; the mishap comes before the last but one. */
  async function play(name: string, mishap: Mishap): Promise<Played> {
    const formats = mishap.formats ?? ['messages', 'chat', 'responses'];
    const format = formats[Math.floor(random() * formats.length)]!;
    const turns = (mishap.after ?? 1) + Math.floor(random() * 4);
    const talk = newConversation(random);
    let detail: string | RegExp | undefined;
    const world: World = {
      passMinutes: (minutes) => clock.pass(minutes * 60_000),
      pauseSlot: () => pair.gateway.services.slots.pause(lastSlot),
      forgetPrompts: () => pair.simulator.forgetPrompts(),
    };
    let lastSlot = '';
    for (let turn = 0; turn <= turns + 1; turn += 1) {
      if (turn > 0) talk.messages.push(answerTurn(random));
      talk.messages.push(userTurn(random));
      if (turn === turns) {
        const before = structuredClone(talk);
        mishap.happen(talk, world, random);
        detail = mishap.detail?.(talk, before);
      }
      const [path, body] = requestOf(format, talk);
      const headers = { 'x-session-id': name, 'x-request-id': `${name} ${turn}`, ...talk.headers };
      const answer = await pair.post(path, { ...body, stream: random() < 0.5 }, headers);
      expect(answer.status, await answer.text()).to.equal(200);
      await pair.gateway.exchanges.idle();
      lastSlot = answer.headers.get('x-gw-slot')!;
      clock.pass(1000);
    }
    for (const slot of ['a', 'b']) pair.gateway.services.slots.resume(slot);
    return { name, format, mishap, lossTurn: turns, detail };
  }

  it('names the cause of each loss, and none where nothing was lost', async () => {
    const played: Played[] = [];
    for (let at = 0; at < sessions; at += 1) played.push(await play(`s${at}`, mishaps[at % mishaps.length]!));
    const rows = await rowsOf(pair);
    const faults = played.flatMap((session) => faultsOf(session, rows));
    const unknown = played.filter(
      ({ name, lossTurn }) => rows.get(`${name} ${lossTurn}`)?.cache?.cause === 'unknown',
    );
    expect(faults).to.deep.equal([]);
    expect(unknown.length).to.be.at.most(sessions / 10);
  });
});

interface Played {
  readonly name: string;
  readonly format: string;
  readonly mishap: Mishap;
  /** Number of the turn that loses. */
  readonly lossTurn: number;
  readonly detail: string | RegExp | undefined;
}

async function rowsOf({ gateway }: Pair): Promise<ReadonlyMap<string, LedgerRow>> {
  const { ledger, store } = gateway.services;
  await ledger.flush();
  const rows = new Map<string, LedgerRow>();
  for (let cursor: string | undefined; ;) {
    const page = await store.ledger.requests({}, { limit: 1000, ...(cursor !== undefined && { cursor }) });
    for (const row of page.rows) rows.set(row.requestId, row);
    if ((cursor = page.cursor) === undefined) return rows;
  }
}

/** Turns of a session whose loss is not what it has to be; "unknown" is no fault where there is a loss. */
function faultsOf({ name, format, mishap, lossTurn, detail }: Played, rows: ReadonlyMap<string, LedgerRow>) {
  const faults: object[] = [];
  for (let turn = 0; rows.has(`${name} ${turn}`); turn += 1) {
    const { cache, billed } = rows.get(`${name} ${turn}`)!;
    const isLoss = turn === lossTurn || (turn > lossTurn && mishap.goesOn);
    const expected = isLoss ? mishap.cause : undefined;
    const before = rows.get(`${name} ${turn - 1}`)?.billed;
    const cached = before ? before.cacheRead + before.cacheWrite1h + before.cacheWrite5m : 0;
    const paid = billed.input + billed.cacheWrite1h + billed.cacheWrite5m;
    const lost = Math.max(0, Math.min(cached - billed.cacheRead, paid));
    const isRight =
      expected === undefined
        ? cache === undefined
        : cache?.lostTokens === lost &&
          cache.lostCost === lostCost(lost, billed, price) &&
          (cache.cause === 'unknown' ||
            (cache.cause === expected &&
              (detail instanceof RegExp ? detail.test(cache.detail ?? '') : cache.detail === detail)));
    if (!isRight)
      faults.push({
        name,
        format,
        turn,
        mishap: mishap.name,
        detail: String(detail),
        cache,
        lost,
        billed,
        before,
      });
  }
  return faults;
}
