import { setTimeout as wait } from 'node:timers/promises';
import { masterKey, startGateway, type GatewayUnderTest } from '../whole/harness.js';
import { FaultyProvider, type Fault } from './provider.js';

/** Delivery of an answer: as it comes, or buffered until it is complete. */
export type Mode = 'streamed' | 'verified';

/** Models of the provider: the one with the fault, and the one that answers in its place. */
export const primary = 'primary';
export const backup = 'backup';

/** Their ids in the gateway's catalog. */
export const idOf = { [primary]: 'sonnet-5', [backup]: 'haiku-5' } as const;

/** An answer as the caller has it. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly model: string | undefined;
  readonly finish: string | undefined;
  readonly outputTokens: number | undefined;
  /** Message of an error, as the body or within the stream. */
  readonly error: string | undefined;
  /** False for a stream that has ended without its end mark. */
  readonly isDone: boolean;
  readonly ms: number;
}

export interface BenchTerms {
  /** Share of the real times that waits of the suite take. */
  readonly scale: number;
  /** Timeout of the headers, of the first token, and within an answer. */
  readonly timeoutMs: number;
}

/** A gateway before a provider with one fault, by the config that the guide shows. */
export class FailoverBench {
  readonly provider: FaultyProvider;
  readonly #under: GatewayUnderTest;

  readonly #scale: number;

  private constructor(provider: FaultyProvider, under: GatewayUnderTest, scale: number) {
    this.provider = provider;
    this.#under = under;
    this.#scale = scale;
  }

  static async start(faults: Readonly<Record<string, Fault>>, terms: BenchTerms): Promise<FailoverBench> {
    const { scale, timeoutMs } = terms;
    const provider = await FaultyProvider.start(new Map(Object.entries(faults)), scale);
    const under = await startGateway(configFor(provider.url, timeoutMs));
    return new FailoverBench(provider, under, scale);
  }

  /** Waits for a time of the suite. */
  async wait(ms: number): Promise<void> {
    await wait(ms * this.#scale);
  }

  /** Asks for the primary model, in Chat Completions. */
  async ask(mode: Mode): Promise<Answer> {
    const startedMs = performance.now();
    const body = {
      model: idOf.primary,
      messages: [{ role: 'user', content: 'Count to sixty.' }],
      max_tokens: 1000,
    };
    const asked =
      mode === 'streamed'
        ? this.#under.post('/v1/chat/completions', {
            ...body,
            stream: true,
            stream_options: { include_usage: true },
          })
        : this.#under.post('/v1/chat/completions', body, {
            'x-api-key': masterKey,
            'x-gw-delivery': 'verified',
          });
    const response = await asked;
    const text = await response.text();
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const read = isStream ? readStream(text) : readWhole(JSON.parse(text) as Chunk);
    return { ...read, status: response.status, ms: performance.now() - startedMs };
  }

  async close(): Promise<void> {
    await this.#under.close();
    await this.provider.close();
  }
}

function configFor(url: string, timeoutMs: number): Readonly<Record<string, unknown>> {
  const timeout = `${timeoutMs}ms`;
  const on = ['rate_limited', 'overloaded', 'unreachable', 'timeout', 'failed', 'context_length'];
  const slot = {
    upstream: 'chat',
    baseUrl: `${url}/v1`,
    account: { kind: 'api-key', key: 'key' },
  };
  return {
    pipeline: [
      { use: 'auth' },
      { use: 'body-limit' },
      { use: 'format-decode' },
      { use: 'max-tokens' },
      { use: 'fallback', with: { to: { [idOf.primary]: [idOf.backup] }, on, attempts: 4 } },
      { use: 'slot-pick' },
      {
        use: 'upstream-call',
        with: { attempts: 3, headersTimeout: timeout, firstTokenTimeout: timeout, idleTimeout: timeout },
      },
      { use: 'format-encode' },
    ],
    slots: ([primary, backup] as const).map((model) => ({
      id: model,
      models: { [idOf[model]]: model },
      ...slot,
    })),
  };
}

interface Chunk {
  readonly model?: string;
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string };
    readonly message?: { readonly content?: string };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: { readonly completion_tokens?: number } | null;
  readonly error?: { readonly message: string };
}

type Read = Omit<Answer, 'status' | 'ms'>;

function readWhole(body: Chunk): Read {
  const [choice] = body.choices ?? [];
  return {
    text: choice?.message?.content ?? '',
    model: body.model,
    finish: choice?.finish_reason ?? undefined,
    outputTokens: body.usage?.completion_tokens,
    error: body.error?.message,
    isDone: true,
  };
}

function readStream(text: string): Read {
  const lines = text.split('\n').filter((line) => line.startsWith('data: '));
  const data = lines.map((line) => line.slice('data: '.length));
  const chunks = data.filter((each) => each !== '[DONE]').map((each) => JSON.parse(each) as Chunk);
  const choices = chunks.flatMap(({ choices: each = [] }) => each);
  return {
    text: choices.map(({ delta }) => delta?.content ?? '').join(''),
    model: chunks.find(({ model }) => model !== undefined)?.model,
    finish: choices.find(({ finish_reason }) => finish_reason)?.finish_reason ?? undefined,
    outputTokens: chunks.find(({ usage }) => usage)?.usage?.completion_tokens,
    error: chunks.find(({ error }) => error)?.error?.message,
    isDone: data.at(-1) === '[DONE]',
  };
}
