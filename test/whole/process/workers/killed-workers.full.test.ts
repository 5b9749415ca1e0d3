import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { ProcessWorkshop, type GatewayProcess } from '../../gateway-process.js';

const workshop = new ProcessWorkshop();
const key = 'the-master-key';
const uses = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];
const workers = 5;
/** One lives on: where all have gone, the system chooses another port. */
const victims = workers - 1;
const killsOfEach = 5;

const config = JSON.stringify({
  listen: { workers, shutdownTimeout: '2s' },
  pipeline: uses.map((use) => (use === 'slot-pick' ? { use, with: { queueTimeout: '5s' } } : { use })),
  slots: [{ id: 'a', upstream: 'simulator', maxConcurrent: 8 }],
});

const failed = ['broken off', 'hung'];

/** The status; `broken off` where the connection ended before the answer did, `hung` where nothing came in time. */
async function outcome(url: string): Promise<string> {
  const signal = AbortSignal.timeout(20_000);
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const sent = request(`${url}/v1/messages`, { method: 'POST', agent: false, headers, signal });
  const messages = [{ role: 'user', content: 'Hi' }];
  sent.end(JSON.stringify({ model: 'sonnet-5', max_tokens: 100, stream: true, messages }));
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    for await (const chunk of response) void chunk;
    return String(response.statusCode);
  } catch {
    return failed[Number(signal.aborted)]!;
  }
}

/** The process of a worker, by its name. */
function pidOf(gateway: GatewayProcess, worker: number): number | undefined {
  const pids = gateway.logged.filter((line) => line['worker'] === worker).map(({ pid }) => Number(pid));
  return pids.at(-1);
}

/** Kills a worker as soon as it is in use, time and again, and waits until it is replaced. */
async function killRepeatedly(gateway: GatewayProcess, worker: number): Promise<void> {
  for (let kill = 0; kill < killsOfEach; kill += 1) {
    const isReplaced = ({ length }: readonly unknown[]) => length > kill;
    process.kill(pidOf(gateway, worker)!, 'SIGKILL');
    const back = () =>
      gateway.logged.filter(
        (line) => line['worker'] === worker && line.msg === 'A replacement worker is serving.',
      );
    while (!isReplaced(back())) await delay(100);
  }
}

describe('workers that are killed time and again under load', function () {
  this.timeout(120_000);
  afterEach(() => workshop.end());

  it('leave every place of a slot to those that follow', async () => {
    const cwd = await workshop.folder({ 'config/gateway.yaml': config });
    const gateway = await workshop.start({ cwd, env: { GW2API_API_KEY: key } });
    const url = await gateway.url();
    const known = () => Array.from({ length: workers }, (_, index) => pidOf(gateway, index + 1));
    while (known().includes(undefined)) await outcome(url);

    const loaded = new AbortController();
    const load = Array.from({ length: 16 }, async () => {
      while (!loaded.signal.aborted) await outcome(url);
    });
    await Promise.all(Array.from({ length: victims }, (_, index) => killRepeatedly(gateway, index + 1)));
    loaded.abort();
    await Promise.all(load);

    const outcomes = await Promise.all(Array.from({ length: 60 }, () => outcome(url)));
    expect(new Set(outcomes)).to.deep.equal(new Set(['200']));
    const response = await fetch(`${url}/admin/slots`, { headers: { 'x-api-key': key } });
    const { data } = (await response.json()) as { data: readonly { in_flight: number; queued: number }[] };
    expect(data.map(({ queued }) => queued)).to.deep.equal([0]);
    const died = gateway.logged.filter(({ msg }) => msg.startsWith('A worker died'));
    expect(died).to.have.length(victims * killsOfEach);
  });
});
