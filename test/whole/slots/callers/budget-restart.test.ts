import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { openDatabase } from '#src/state/store/sql/sqlite/driver.js';
import { eventually } from '../../../eventually.js';
import { execWhenFree } from '../../../state/store/exec-when-free.js';
import { ProcessWorkshop, type GatewayProcess } from '../../gateway-process.js';
import { slotAt } from '../../harness.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { errorIn } from '../../kit.js';

const key = 'the-master-key';

/** 10 USD per million tokens of every sort: a call of 25,000 tokens costs 0.25 USD. */
const price = { input: 10, output: 10, cacheRead: 10, cacheWrite5m: 10, cacheWrite1h: 10 };
const usage = { input_tokens: 25_000, output_tokens: 0 };

describe('a budget of a gateway that is killed', function () {
  this.timeout(60_000);
  const workshop = new ProcessWorkshop();
  let upstream: HeldUpstream;
  let cwd: string;
  before(async () => {
    upstream = await startHeldUpstream({ usage });
    const limits = { usdPerMonth: 0.5, limitMaster: true };
    const uses = [
      'auth',
      'body-limit',
      'format-decode',
      'rate-limit',
      'slot-pick',
      'upstream-call',
      'format-encode',
    ];
    const config = {
      pipeline: uses.map((use) => (use === 'rate-limit' ? { use, with: limits } : { use })),
      slots: [slotAt(upstream.url, { price })],
      store: 'sqlite:./data/gateway.db',
    };
    cwd = await workshop.folder({ 'config/gateway.yaml': JSON.stringify(config) });
  });
  after(async () => {
    await workshop.end();
    await upstream.close();
  });

  const start = (): Promise<GatewayProcess> => workshop.start({ cwd, env: { GW2API_API_KEY: key } });

  /** One call, of 0.25 USD where it is let through. */
  async function call(gateway: GatewayProcess): Promise<Response> {
    const messages = [{ role: 'user', content: 'Hi' }];
    const answering = fetch(`${await gateway.url()}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sonnet-5', max_tokens: 100, messages }),
    });
    const asked = await Promise.race([upstream.next(), answering]);
    if ('finish' in asked) asked.finish();
    return answering;
  }

  const spooled = async (): Promise<number> => {
    const names = (await readdir(path.join(cwd, 'data'))).filter((name) => name.startsWith('ledger-'));
    const texts = await Promise.all(
      names.map((name) => readFile(path.join(cwd, 'data', name), 'utf8').catch(() => '')),
    );
    return texts.join('\n').split('\n').filter(Boolean).length;
  };

  it('knows what waits in the spool over a kill -9: it is refused where it was used up', async () => {
    const killed = await start();
    await killed.url();
    const other = openDatabase(path.join(cwd, 'data', 'gateway.db'));
    await execWhenFree(other, 'begin immediate'); // the store takes no rows
    for (let at = 0; at < 2; at += 1) {
      const answer = await call(killed);
      expect(answer.status).to.equal(200);
      await answer.text();
    }
    await eventually(async () => (await spooled()) === 2);
    killed.signal('SIGKILL');
    await killed.ended;
    other.exec('rollback');
    other.close();

    const restarted = await start();
    const answer = await call(restarted);
    expect(answer.status, '0.75 USD of 0.50 USD').to.equal(429);
    expect(await errorIn(answer)).to.include({ status: 429, code: 'budget_exceeded' });
    expect(await spooled()).to.equal(0);
  });
});
