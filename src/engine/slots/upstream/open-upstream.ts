import {
  estimateTokens,
  GatewayError,
  type Clock,
  type Logger,
  type TokenCount,
} from '../../../plugin/index.js';
import type { AccountKind, UpstreamKind } from '../../../plugin/core.js';
import type {
  DiagnosisStep,
  HttpClient,
  SlotSettings,
  Upstream,
  UpstreamCall,
  UpstreamHost,
  UpstreamQuery,
  UpstreamReply,
} from '../../../plugin/upstream/index.js';
import type { OpenHttpClient } from '../../transport/http-client.js';

/** A kind of plugin with the checked options of a slot. */
export interface Chosen<Kind> {
  readonly plugin: Kind;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Plugins of a slot. */
export interface SlotPlugins {
  readonly upstream: Chosen<UpstreamKind>;
  readonly account: Chosen<AccountKind>;
}

export interface UpstreamParts {
  /** Loads another kind of upstream. Throws an Error for the author of the plugin that opens it. */
  readonly load: (use: string, options: Chosen<UpstreamKind>['options']) => Promise<Chosen<UpstreamKind>>;
  readonly log: Logger;
  readonly clock: Clock;
  /** Default: clients that connect. */
  readonly openClient?: OpenHttpClient | undefined;
}

/** Upstream of a slot with its HTTP client, and defaults for the parts that its kind leaves out. */
export class OpenUpstream implements Upstream {
  readonly models: Upstream['models'];
  readonly knownModels: Upstream['knownModels'];
  readonly probe: Upstream['probe'];
  readonly refused: Upstream['refused'];
  /** False: `countTokens` estimates. */
  readonly canCountTokens: boolean;
  /** Base URL of the slot, else that of its kind; undefined if it needs none. */
  readonly baseUrl: string | undefined;
  readonly #upstream: Upstream;
  readonly #http: HttpClient;

  private constructor(upstream: Upstream, http: HttpClient, baseUrl: string | undefined) {
    this.baseUrl = baseUrl;
    this.#upstream = upstream;
    this.#http = http;
    this.canCountTokens = upstream.countTokens !== undefined;
    this.models = upstream.models?.bind(upstream);
    this.knownModels = upstream.knownModels;
    this.probe = upstream.probe?.bind(upstream);
    this.refused = upstream.refused?.bind(upstream);
  }

  /** Opens an upstream. Throws the error of its kind. */
  static async open(
    settings: SlotSettings,
    { plugin, options }: Chosen<UpstreamKind>,
    parts: UpstreamParts,
  ): Promise<OpenUpstream> {
    const { log, clock, openClient } = parts;
    const { baseUrl = plugin.baseUrl(options) } = settings;
    const slot = baseUrl === undefined ? settings : { ...settings, baseUrl };
    const http =
      baseUrl === undefined
        ? noAddress(slot)
        : (openClient ?? (await httpClients()))(
            { ...slot, baseUrl, standIn: plugin.standIn, log, clock },
            'upstream',
          );
    const upstreams: UpstreamHost['upstreams'] = {
      async open(use, { with: given = {}, ...changes }) {
        const { proxy, ...others } = { ...slot, ...changes };
        const inner = { ...others, ...(proxy !== undefined && { proxy }) };
        return OpenUpstream.open(inner, await parts.load(use, given), parts);
      },
    };
    try {
      const dry = openClient !== undefined;
      const host = { slot, log, http, upstreams, now: clock.now, clock, dry };
      const upstream = await plugin.open(options, host);
      requireMethod(upstream, 'generate');
      return new OpenUpstream(upstream, http, baseUrl);
    } catch (error) {
      await http.close();
      throw error;
    }
  }

  /** Starts the upstream; throws the error of its kind. */
  async start(): Promise<void> {
    await this.#upstream.start?.();
  }

  generate(call: UpstreamCall): Promise<UpstreamReply> {
    return this.#upstream.generate(call);
  }

  async countTokens(call: UpstreamCall): Promise<TokenCount> {
    const { stream: _, ...request } = call.request;
    return (
      (await this.#upstream.countTokens?.(call)) ?? { inputTokens: estimateTokens(request), estimated: true }
    );
  }

  diagnose(query: UpstreamQuery): Promise<readonly DiagnosisStep[]> {
    return this.#upstream.diagnose?.(query) ?? this.#http.diagnose(query);
  }

  async close(): Promise<void> {
    try {
      await this.#upstream.close?.();
    } finally {
      await this.#http.close();
    }
  }
}

/** Throws for a result of `open` other than an upstream or an account. */
export function requireMethod(opened: unknown, name: string): void {
  if (typeof (Object(opened) as Record<string, unknown>)[name] === 'function') return; // any object has properties
  throw new Error(`its open returned no object with ${name}`);
}

/** Loads the HTTP client with the first slot that needs one. */
export async function httpClients(): Promise<OpenHttpClient> {
  return (await import('../../transport/http-client.js')).openHttpClient;
}

/** Client of a slot without a network. */
export function noAddress({ id }: Pick<SlotSettings, 'id'>): HttpClient {
  const refuse = () => {
    throw new GatewayError('internal', `Slot "${id}" has no baseUrl, which its upstream requires.`, {
      callersMessage: 'The gateway failed on this request; see its log.',
    });
  };
  const none = { origin: '', basePath: '', fresh: refuse, send: async () => refuse() };
  return { ...none, diagnose: () => Promise.resolve([]), close: () => Promise.resolve() };
}
