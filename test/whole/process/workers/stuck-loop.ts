import { expect } from 'chai';
import { ProcessWorkshop, type Ended, type GatewayProcess } from '../../gateway-process.js';

const key = 'the-master-key';
export const file = 'config/gateway.yaml';
const env = { GW2API_API_KEY: key };

/** Never gives the loop back where the request says so: in JavaScript, in a generator, or in a native call. */
const endless = `import { execFileSync } from 'node:child_process';
function spin() { for (;;) Math.sqrt(2); }
function* count() { for (let at = 0; ; at += 1) if (at < 0) yield at; }
const ways = {
  loop: spin,
  generator: () => [...count()],
  native: () => execFileSync('sleep', ['60']),
};
export default {
  name: 'endless',
  setup: () => (ctx, next) => (ways[ctx.headers['x-stuck']]?.(), next()),
};`;

const uses = [
  '../endless.mjs',
  'auth',
  'body-limit',
  'format-decode',
  'slot-pick',
  'upstream-call',
  'format-encode',
];

interface Settings {
  readonly workers?: number;
  readonly stuckTimeout?: string;
  readonly store?: string;
}

export function configOf({ workers = 1, stuckTimeout = '1s', store }: Settings): string {
  return JSON.stringify({
    listen: { workers, stuckTimeout, shutdownTimeout: '2s' },
    pipeline: uses.map((use) => ({ use })),
    slots: [{ id: 'a', upstream: 'simulator' }],
    ...(store && { store }),
  });
}

/** Gateways with a plugin that hangs where a request says so; `end` kills them and their workers. */
export class StuckWorkshop {
  readonly #workshop = new ProcessWorkshop();
  readonly #started: GatewayProcess[] = [];

  async start(settings: Settings = {}, more: Readonly<Record<string, string>> = {}) {
    const cwd = await this.#folder(settings);
    const gateway = await this.#workshop.start({ cwd, env: { ...env, ...more } });
    this.#started.push(gateway);
    return { gateway, url: await gateway.url(), cwd };
  }

  /** Runs to the end. */
  async run(settings: Settings): Promise<Ended> {
    return this.#workshop.run({ cwd: await this.#folder(settings), env });
  }

  async end(): Promise<void> {
    for (const gateway of this.#started.splice(0)) endWorkers(gateway);
    await this.#workshop.end();
  }

  #folder(settings: Settings): Promise<string> {
    return this.#workshop.folder({ [file]: configOf(settings), 'endless.mjs': endless });
  }
}

/** Kills the workers that a gateway has had, which may not end by themselves. */
function endWorkers({ pid: own, logged }: GatewayProcess): void {
  const pids = new Set(logged.flatMap(({ pid, worker }) => (worker === undefined ? [] : [Number(pid)])));
  for (const pid of pids) if (pid !== own) tryKill(pid);
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

/** Status of a request, or `hung up`. */
export async function ask(url: string, way: string): Promise<number | string> {
  const body = { model: 'sonnet-5', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };
  const headers = { 'x-api-key': key, 'content-type': 'application/json', 'x-stuck': way };
  return fetch(`${url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) }).then(
    ({ status }) => status,
    () => 'hung up',
  );
}

/** The line of the log that names the place. */
export function stuckLine(gateway: GatewayProcess) {
  return gateway.line(({ msg }) => msg.startsWith('The event loop is stuck'));
}

export function stuckLines(gateway: GatewayProcess) {
  return gateway.logged.filter(({ msg }) => msg.startsWith('The event loop is stuck'));
}

/** A loop without an end is logged with its place. */
export async function logsItsPlace(shop: StuckWorkshop, store: string): Promise<void> {
  const { gateway, url } = await shop.start({ store });
  const hung = ask(url, 'loop');
  const line = await stuckLine(gateway);
  expect(line).to.include({ level: 'error', stuckMs: 1000 });
  expect(line['plugin']).to.match(/\/endless\.mjs:2:\d+$/);
  expect((line['stack'] as string[])[0]).to.match(/at spin \(file:.*\/endless\.mjs[^:]*:2:\d+\)$/);
  await shop.end();
  await hung;
}
