import { Type, type GatewayError, type SlotCall, type TokenCount } from '@gw2api/gateway/plugin';
import {
  defineUpstream,
  type DiagnosisStep,
  type RefusedPart,
  type Upstream,
  type UpstreamCall,
  type UpstreamHost,
  type UpstreamQuery,
  type UpstreamReply,
} from '@gw2api/gateway/plugin/upstream';
import type { Simulator } from './server.js';

/**
 * Upstream of slots without an account: a simulator in this process, called through `messages` over a real
 * socket. It is loaded and started by a slot's first call, and ends with the slot.
 */
export default defineUpstream({
  name: 'simulator',
  api: 1,
  options: Type.Object({}, { title: 'Simulator (made-up answers)' }),
  open: (_options, host) => new SimulatedUpstream(host),
});

interface Opened {
  /** Undefined in a dry run, which has its own. */
  readonly simulator: Simulator | undefined;
  readonly upstream: Upstream;
}

class SimulatedUpstream implements Upstream {
  readonly #host: UpstreamHost;
  #opened: Promise<Opened> | undefined;
  /** Upstream, opened by the first call. */
  #upstream: Upstream | undefined;

  constructor(host: UpstreamHost) {
    this.#host = host;
  }

  async generate(call: UpstreamCall): Promise<UpstreamReply> {
    const { upstream } = await this.#open();
    return upstream.generate(withCredential(call));
  }

  async countTokens(call: UpstreamCall): Promise<TokenCount> {
    const { upstream } = await this.#open();
    const count = await upstream.countTokens?.(withCredential(call));
    if (count) return count;
    throw new Error('The upstream "messages" counts no tokens.');
  }

  refused(error: GatewayError, call: SlotCall): RefusedPart | undefined {
    return this.#upstream?.refused?.(error, call);
  }

  async diagnose(query: UpstreamQuery): Promise<readonly DiagnosisStep[]> {
    const { upstream } = await this.#open();
    return (await upstream.diagnose?.(withCredential(query))) ?? [];
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined); // which its call has reported
    await opened?.upstream.close?.();
    await opened?.simulator?.close();
  }

  /** Opens the upstream at the first call; a failure is not cached. */
  #open(): Promise<Opened> {
    this.#opened ??= this.#start().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #start(): Promise<Opened> {
    const opened = await this.#startSimulator();
    this.#upstream = opened.upstream;
    return opened;
  }

  /** Starts a simulator in this process, bypassing the slot's egress. */
  async #startSimulator(): Promise<Opened> {
    const { upstreams, dry } = this.#host;
    if (dry) return { simulator: undefined, upstream: await upstreams.open('messages', { baseUrl: dryUrl }) };
    const { startSimulator } = await import('./server.js');
    const simulator = await startSimulator({ keep: 0, clock: this.#host.clock });
    const settings = { baseUrl: simulator.url, proxy: undefined };
    try {
      return { simulator, upstream: await upstreams.open('messages', settings) };
    } catch (error) {
      await simulator.close();
      throw error;
    }
  }
}

/** Base URL of a client that reaches a simulator at any address. */
const dryUrl = 'http://simulator.invalid';

/** Query with the key that the simulator requires, like the real service, even for a slot without an account. */
function withCredential<Query extends Pick<UpstreamQuery, 'authorize'>>(query: Query): Query {
  return {
    ...query,
    async authorize(request) {
      const credential = await query.authorize(request);
      return Object.keys(credential).length > 0 ? credential : { 'x-api-key': 'simulator' };
    },
  };
}
