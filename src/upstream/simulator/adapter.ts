import type {
  DiagnosisStep,
  TokenCount,
  Upstream,
  UpstreamAdapter,
  UpstreamCall,
  UpstreamReply,
  UpstreamSettings,
} from '../../plugin/index.js';
import type { Simulator } from './server.js';

/**
 * Upstream of slots without an account: a simulator in this process, called through `messages` over a real
 * socket. It is loaded and started by a slot's first call, and ends with the slot.
 */
export function simulatorAdapter(messages: UpstreamAdapter): UpstreamAdapter {
  return {
    kind: 'simulator',
    open: (settings) => new SimulatedUpstream(messages, settings),
  };
}

interface Opened {
  readonly simulator: Simulator;
  readonly upstream: Upstream;
}

class SimulatedUpstream implements Upstream {
  readonly #messages: UpstreamAdapter;
  readonly #settings: UpstreamSettings;
  #opened: Promise<Opened> | undefined;

  constructor(messages: UpstreamAdapter, settings: UpstreamSettings) {
    this.#messages = messages;
    this.#settings = settings;
  }

  async generate(call: UpstreamCall): Promise<UpstreamReply> {
    const { upstream } = await this.#open();
    return upstream.generate(withCredential(call));
  }

  async countTokens(call: UpstreamCall): Promise<TokenCount> {
    const { upstream } = await this.#open();
    return upstream.countTokens(withCredential(call));
  }

  async diagnose(
    signal: AbortSignal,
    credential: UpstreamCall['credential'],
  ): Promise<readonly DiagnosisStep[]> {
    const { upstream } = await this.#open();
    return upstream.diagnose(signal, credentialOr(credential));
  }

  async close(): Promise<void> {
    if (!this.#opened) return;
    const { simulator, upstream } = await this.#opened;
    await upstream.close();
    await simulator.close();
  }

  #open(): Promise<Opened> {
    return (this.#opened ??= this.#start());
  }

  /** The slot's own way out does not lead to this process. */
  async #start(): Promise<Opened> {
    const { startSimulator } = await import('./server.js');
    const simulator = await startSimulator({ keep: 0 });
    const { proxy: _, ...settings } = this.#settings;
    const upstream = await this.#messages.open({ ...settings, baseUrl: simulator.url });
    return { simulator, upstream };
  }
}

/** A slot with no account still needs some key: the simulator asks for one as the real service does. */
function withCredential(call: UpstreamCall): UpstreamCall {
  return { ...call, credential: credentialOr(call.credential) };
}

function credentialOr(credential: UpstreamCall['credential']): UpstreamCall['credential'] {
  return Object.keys(credential).length > 0 ? credential : { 'x-api-key': 'simulator' };
}
