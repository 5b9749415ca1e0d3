import path from 'node:path';
import { expect } from 'chai';
import { ProcessWorkshop, type GatewayProcess } from '../../gateway-process.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';

export const key = 'the-master-key';
export const told = 'An exception was not caught; the process finishes the requests in flight, then exits.';

/** Breaks when a request has the header that says so, outside of what anybody waits for. */
const plugin = `import { EventEmitter } from 'node:events';
const ways = {
  timer: () => setTimeout(() => { throw new Error('lost'); }, 0),
  event: () => queueMicrotask(() => new EventEmitter().emit('error', new Error('lost'))),
  text: () => setTimeout(() => { throw 'lost'; }, 0),
  frozen: () => setTimeout(() => { throw Object.freeze(new Error('lost')); }, 0),
  proxy: () => setTimeout(() => { throw new Proxy(new Error(), { get() { throw 1; } }); }, 0),
};
export default {
  name: 'loses',
  operations: ['generate', 'models'],
  setup: () => async function loses(ctx, next) {
    const way = ctx.get('x-lose');
    if (way === 'signal') ctx.state.signal.addEventListener('abort', () => { throw new Error('lost'); });
    ways[way]?.();
    await next();
  },
};
`;

interface Started {
  readonly gateway: GatewayProcess;
  readonly url: string;
  readonly cwd: string;
}

/** A gateway with the plugin, over an upstream whose answers are held; `end` ends both. */
export class LossWorkshop {
  readonly #workshop = new ProcessWorkshop();
  #upstream: HeldUpstream | undefined;

  get upstream(): HeldUpstream {
    return this.#upstream!;
  }

  async start(listen: object = {}): Promise<Started> {
    this.#upstream = await startHeldUpstream();
    const uses = [
      'auth',
      './loses.mjs',
      'body-limit',
      'format-decode',
      'slot-pick',
      'upstream-call',
      'format-encode',
    ];
    const slots = [{ id: 'a', upstream: 'messages', baseUrl: this.upstream.url, account: { kind: 'none' } }];
    const config = { listen, pipeline: uses.map((use) => ({ use })), slots };
    const cwd = await this.#workshop.folder({ 'gateway.yaml': config, 'loses.mjs': plugin });
    const env = { GW2API_API_KEY: key };
    const gateway = await this.#workshop.start({ cwd, env, args: ['--config', 'gateway.yaml'] });
    return { gateway, url: await gateway.url(), cwd };
  }

  async end(): Promise<void> {
    await this.#upstream?.close();
    await this.#workshop.end();
  }
}

export function stream(url: string, lose = ''): Promise<Response> {
  const messages = [{ role: 'user', content: 'Hi' }];
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, 'x-lose': lose, connection: 'close' },
    body: JSON.stringify({ model: 'sonnet-5', max_tokens: 9, messages, stream: true }),
  });
}

/** Status of a request, or the code of its error. */
export function models(url: string, lose = ''): Promise<unknown> {
  const headers = { 'x-api-key': key, 'x-lose': lose, connection: 'close' };
  return fetch(`${url}/v1/models`, { headers }).then(
    ({ status }) => status,
    (error: Error & { cause?: { code?: string } }) => error.cause?.code,
  );
}

export type Way = 'timer' | 'event' | 'signal' | 'text' | 'frozen' | 'proxy';

/** One line of the log for an exception that was lost this way; streams finish, and the process ends with code 1. */
export async function endsInOrder(workshop: LossWorkshop, way: Way): Promise<void> {
  const { gateway, url, cwd } = await workshop.start();
  const answer = await stream(url);
  const held = await workshop.upstream.next();
  await models(url, way);
  const line = await gateway.log(told);
  expect(line['level']).to.equal('error');
  const hasStack = way !== 'text' && way !== 'proxy';
  if (hasStack) expect(line).to.have.nested.property('err.message', 'lost');
  if (hasStack) expect(line['plugin']).to.match(new RegExp(`^${path.join(cwd, 'loses.mjs')}:\\d+:\\d+$`));
  expect(await models(url)).to.equal('ECONNREFUSED');
  held.say(' And goodbye.');
  held.finish();
  expect(await answer.text()).to.match(/And goodbye\.[^]*message_stop/);
  const { code, signal, stderr } = await gateway.ended;
  expect([code, signal, stderr]).to.deep.equal([1, null, '']);
  expect(gateway.logged.filter(({ msg }) => msg === told)).to.have.length(1);
}
