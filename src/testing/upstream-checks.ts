import {
  systemClock,
  foldMessage,
  isGatewayError,
  type GatewayError,
  type MessagesRequest,
} from '../plugin/index.js';
import type { Upstream, UpstreamCall, UpstreamHost } from '../plugin/upstream/index.js';
import { openHttpClient } from '../engine/transport/http-client.js';
import { toUpstream, type UpstreamLike } from './definitions.js';
import { fakeHost } from './fake-host.js';
import { filledOptions } from './filled-options.js';

/** Behaviour of a service for the tests of an upstream. */
export type UpstreamScenario = 'answer' | 'refusal' | 'cut' | 'endless';

/** A service for one scenario. */
export interface PlayedScenario {
  readonly baseUrl?: string;
  /** Text of the user, if the service chooses by it; default `Hello`. */
  readonly text?: string;
  /** Resolves when the connection of the answer has closed. */
  readonly closed?: Promise<unknown>;
  /** Resolves when the service cannot write any more, because its client does not read. */
  readonly blocked?: Promise<unknown>;
}

export interface UpstreamSubject {
  readonly kind: UpstreamLike;
  /** Options of the upstream (`with:`), whose defaults are filled in; default none. */
  readonly options?: object;
  /** Other kinds of upstream that it opens. */
  readonly others?: readonly UpstreamLike[];
  /**
   * Starts a service that gives a short text (`answer`), status 429 with `retry-after: 7` (`refusal`), half an
   * answer and a closed connection (`cut`), or text without end (`endless`).
   */
  play(scenario: UpstreamScenario): Promise<PlayedScenario>;
}

/** One rule for every upstream; `run` rejects if it is broken. */
export interface UpstreamCheck {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** The conformance suite of upstreams: `for (const { name, run } of upstreamChecks(subject)) it(name, run)`. */
export function upstreamChecks(subject: UpstreamSubject): readonly UpstreamCheck[] {
  return Object.entries(rules).map(([name, rule]) => ({ name, run: () => runRule(rule, subject) }));
}

/** Host of an upstream outside a gateway, with a real HTTP client. */
export function upstreamHost(
  settings: Partial<UpstreamHost['slot']> = {},
  others: readonly UpstreamLike[] = [],
): UpstreamHost {
  const slot = { id: 'test', headers: {}, connectTimeoutMs: 5000, maxConcurrent: 8, ...settings };
  const { baseUrl = 'http://127.0.0.1:9' } = slot;
  const { log } = fakeHost();
  return {
    slot,
    log,
    http: openHttpClient({ ...slot, baseUrl, log }),
    upstreams: {
      async open(use, { with: options = {}, ...changes }) {
        const other = others.find(({ name }) => name === use);
        if (!other) throw new Error(`There is no upstream "${use}"; give it as one of \`others\`.`);
        const kind = toUpstream(other);
        const { proxy: _, ...inner } = { ...slot, ...changes };
        return kind.open(filledOptions(kind, options), upstreamHost(inner, others));
      },
    },
    now: systemClock.now,
    clock: systemClock,
    dry: false,
  };
}

interface Playing extends PlayedScenario {
  readonly upstream: Upstream;
  readonly call: (signal?: AbortSignal) => UpstreamCall;
}

interface Rule {
  readonly scenario: UpstreamScenario;
  readonly check: (playing: Playing) => Promise<void>;
}

const rules: Readonly<Record<string, Rule>> = {
  'gives a whole message with its usage': {
    scenario: 'answer',
    async check({ upstream, call }) {
      const { status, events } = await upstream.generate(call());
      const { content, stop_reason, usage } = await foldMessage(events);
      expect(status === 200, `status is ${status}`);
      expect(
        content.some(({ type }) => type === 'text'),
        'there is no text',
      );
      expect(stop_reason === 'end_turn', `stop_reason is ${String(stop_reason)}`);
      expect((usage.output_tokens ?? 0) > 0, 'there are no output tokens');
    },
  },
  'answers one call after the other': {
    scenario: 'answer',
    async check({ upstream, call }) {
      for (let at = 0; at < 3; at += 1) await foldMessage((await upstream.generate(call())).events);
    },
  },
  'throws a refusal with its status and headers': {
    scenario: 'refusal',
    async check({ upstream, call }) {
      const { failure } = await refused(upstream.generate(call()));
      expect(failure?.kind === 'status' && failure.status === 429, 'the failure is not a status 429');
      const headers = failure?.kind === 'status' ? failure.headers : {};
      expect(headers['retry-after'] === '7', 'retry-after is missing');
    },
  },
  'fails where an answer breaks off': {
    scenario: 'cut',
    async check({ upstream, call }) {
      const { failure } = await refused(upstream.generate(call()).then(({ events }) => foldMessage(events)));
      expect(failure?.kind === 'interrupted', `the failure is ${String(failure?.kind)}, not interrupted`);
    },
  },
  'ends its call when the signal aborts': {
    scenario: 'endless',
    async check({ upstream, call, closed }) {
      const controller = new AbortController();
      const { events } = await upstream.generate(call(controller.signal));
      const folded = foldMessage(events).then(
        () => false,
        () => true,
      );
      controller.abort(new Error('The caller has left.'));
      expect(await folded, 'the events have not failed');
      await closed;
    },
  },
  'reads no faster than its events are read': {
    scenario: 'endless',
    async check({ upstream, call, blocked, closed }) {
      const { events } = await upstream.generate(call());
      await blocked;
      for await (const _ of events) break;
      await closed;
    },
  },
};

async function runRule({ scenario, check }: Rule, subject: UpstreamSubject): Promise<void> {
  const { options = {}, others = [] } = subject;
  const kind = toUpstream(subject.kind);
  const played = await subject.play(scenario);
  const { baseUrl, text = 'Hello' } = played;
  const host = upstreamHost(baseUrl === undefined ? {} : { baseUrl }, others);
  const upstream = await kind.open(filledOptions(kind, options), host);
  const call = (signal = new AbortController().signal) => callOf(text, signal);
  try {
    await check({ ...played, upstream, call });
  } finally {
    await upstream.close?.();
    await host.http.close();
  }
}

function callOf(text: string, signal: AbortSignal): UpstreamCall {
  const request: MessagesRequest = {
    model: 'test-model',
    max_tokens: 64,
    stream: true,
    messages: [{ role: 'user', content: text }],
  };
  const headers = { 'anthropic-version': '2023-06-01' };
  const limits = { headersTimeoutMs: 10_000, idleTimeoutMs: 10_000 };
  return { request, headers, search: '', signal, authorize, ...limits };
}

const authorize = () => ({ 'x-api-key': 'test' });

/** The GatewayError that a promise is rejected with. */
async function refused(promise: Promise<unknown>): Promise<GatewayError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (isGatewayError(error)) return error;
  throw new Error(`It threw ${String(error)}, which is not a GatewayError.`);
}

function expect(isKept: boolean, message: string): void {
  if (!isKept) throw new Error(message);
}
