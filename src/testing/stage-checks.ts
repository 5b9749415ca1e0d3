import { isDeepStrictEqual } from 'node:util';
import { coreKeys } from '../plugin/core.js';
import {
  foldMessage,
  GatewayError,
  type GatewayState,
  type Host,
  type MessagesRequest,
  type MessagesResponse,
  type ModelReply,
  type Plugin,
} from '../plugin/index.js';
import { messageEvents, recordedEvents } from './events.js';
import { toStage, type StageLike } from './definitions.js';
import { fakeHost } from './fake-host.js';
import { serveStage } from './run-stage.js';
import { send, type Answer, type StageRequest } from './send.js';
import { StageWorld } from './stage-world.js';

export interface StageSubject {
  readonly plugin: StageLike;
  /** As `with:` in the config. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly host?: () => Host;
  /** The request that it accepts; default a POST of a short Messages request. */
  readonly request?: StageRequest;
  /** Separate state instead of the default, by the reply of the model. */
  readonly state?: (reply: ModelReply) => Partial<GatewayState>;
}

/** One rule for every stage; `run` rejects if it is broken. */
export interface StageCheck {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/**
 * The conformance suite of stages, over all formats, streamed and whole: `for (const { name, run } of stageChecks({
 * plugin })) it(name, run)`. The stage must accept a request whose answer says `Hello.`
 */
export function stageChecks(subject: StageSubject): readonly StageCheck[] {
  const plugin = toStage(subject.plugin);
  return formats.flatMap((format) =>
    deliveries.flatMap((delivery) =>
      Object.entries(rules).map(([name, rule]) => ({
        name: `${format}, ${delivery}: ${name}`,
        run: () => rule({ ...subject, plugin, format, delivery }),
      })),
    ),
  );
}

const formats = ['messages', 'chat', 'responses', 'completions'] as const;
const deliveries = ['stream', 'whole'] as const;

/** A subject in one format and delivery. */
interface Case extends StageSubject {
  readonly plugin: Plugin;
  readonly format: string;
  readonly delivery: GatewayState['delivery'];
}

const rules: Readonly<Record<string, (subject: Case) => Promise<void>>> = {
  async 'passes a request once, and its answer whole'(subject) {
    const world = new StageWorld(messageEvents());
    const { answer, served } = await runCase(subject, world);
    expect(served.error === undefined, `the stage has thrown ${String(served.error)}`);
    expect(world.passes === 1, `the stages below were passed ${world.passes} times, not once`);
    const expected = await foldMessage(world.copy());
    const message = await messageIn(answer, subject.delivery);
    const isSame = isDeepStrictEqual(essence(message), essence(expected));
    expect(
      isSame,
      `the answer is ${JSON.stringify(essence(message))}, not ${JSON.stringify(essence(expected))}`,
    );
    expect(served.outcome === 'completed', `the outcome is ${served.outcome}`);
  },
  async 'changes nothing that it does not name'(subject) {
    const world = new StageWorld(messageEvents());
    const { given, before, served } = await runCase(subject, world);
    // In place, and without a name, it is refused as it writes.
    expect(served.error === undefined, `the stage has thrown ${String(served.error)}`);
    const named = new Set<string>([...subject.plugin.provides, 'reply', 'response', 'trace']);
    const after = served.state as unknown as Readonly<Record<string, unknown>>; // read by name
    for (const [key, value] of Object.entries(given)) {
      expect(named.has(key) || after[key] === value, `it has replaced "${key}", which it does not provide`);
      if (key in before)
        expect(isDeepStrictEqual(value, before[key]), `it has written into "${key}" in place`);
    }
    const known = new Set<string>([...named, ...coreKeys, ...Object.keys(given)]);
    const added = Object.keys(after).find((key) => !known.has(key) && after[key] !== undefined);
    expect(added === undefined, `it has set "${added}", which it does not provide`);
  },
  async 'lets an error of the stages below through'(subject) {
    const error = new GatewayError('upstream_error', 'The upstream failed on purpose.');
    const { answer, served } = await runCase(subject, new StageWorld(messageEvents(), error));
    expect(served.error === error, `the error has become ${String(served.error)}`);
    expect(answer?.status === error.status, `the status is ${answer?.status}`);
  },
  async 'lets a stream that breaks break'(subject) {
    const failure = new GatewayError('upstream_interrupted', 'The upstream broke off on purpose.');
    const world = new StageWorld([...messageEvents().slice(0, 3), failure]);
    const { answer } = await runCase(subject, world, 'breaks');
    const isWhole = subject.delivery === 'whole' && (answer?.status ?? 0) < 400;
    const isEnded = typeof answer?.body === 'string' && answer.body.includes('"message_stop"');
    expect(!isWhole && !isEnded, 'the answer ends as if it were complete');
  },
  async 'ends the call when the caller leaves'(subject) {
    if (subject.delivery === 'whole') return; // nothing has been sent that a caller could leave
    const world = new StageWorld([...messageEvents().slice(0, 3), 'endless']);
    const { served, isClosed } = await runCase(subject, world, 'leaves');
    expect(served.outcome === 'abandoned', `the outcome is ${served.outcome}`);
    expect(isClosed, 'the events of the upstream are read on');
  },
};

async function runCase(subject: Case, world: StageWorld, ends: Ending = 'reads') {
  const { plugin, options = {}, host = fakeHost, format, delivery } = subject;
  const body = { ...(delivery === 'stream' && { stream: true }), ...requestOf() };
  const all: Partial<GatewayState> = {
    caller: { kind: 'key', keyId: 'key-1', name: 'test' },
    body,
    request: requestOf(),
    delivery,
    picker: world.picker,
    reply: world.reply,
    ...subject.state?.(world.reply),
  };
  const needed = Object.entries(all).filter(([key]) => isNeeded(plugin, key));
  const core = { format, operation: 'generate', additions: { system: [], tools: [] } } as const;
  const given: Readonly<Record<string, unknown>> = { ...core, ...Object.fromEntries(needed) };
  const plain = ['body', 'request', 'caller', 'additions'].filter((key) => key in given);
  const before = Object.fromEntries(plain.map((key) => [key, structuredClone(given[key])]));
  const state: Partial<GatewayState> = given;
  const below = world.below(plugin, delivery, all);
  const call = plugin.intercepts ? { call: () => world.call() } : {};
  const server = await serveStage(plugin, { options, host: host(), state, below, ...call });
  try {
    const request = { body, ...subject.request };
    const answer = await endings[ends](world, server.origin, request);
    const served = await server.served;
    const isClosed = ends !== 'leaves' || (await world.isClosed());
    return { answer, served, given, before, isClosed };
  } finally {
    world.end();
    await server.close();
  }
}

/** True for a key that the stage requires; an interceptor always gets the request. */
function isNeeded({ requires, intercepts }: Plugin, key: string): boolean {
  return (requires as readonly string[]).includes(key) || (key === 'request' && intercepts);
}

/** Ways of a caller to end a request; the answer, if it has arrived whole. */
const endings = {
  reads: (_: StageWorld, origin: string, request: StageRequest) => send(origin, request),
  breaks: (_: StageWorld, origin: string, request: StageRequest) => send(origin, request).catch(noAnswer),
  leaves: (world: StageWorld, origin: string, request: StageRequest) => world.leave(origin, request),
} as const satisfies Readonly<Record<string, (...args: never[]) => Promise<Answer | undefined>>>;

type Ending = keyof typeof endings;

/** A connection that broke with its answer. */
const noAnswer = (): undefined => undefined;

function requestOf(): MessagesRequest {
  return { model: 'test-model', max_tokens: 64, messages: [{ role: 'user', content: 'Hi' }] };
}

async function messageIn(answer: Answer | undefined, delivery: Case['delivery']): Promise<MessagesResponse> {
  if (delivery === 'stream') return foldMessage(recordedEvents(String(answer?.body)));
  return answer?.body as MessagesResponse; // of a format whose whole answer is a message
}

/** The part of an answer that a stage changes only on demand; usage may be masked. */
function essence(message: Partial<MessagesResponse> | undefined): object {
  const { role, content, stop_reason } = message ?? {};
  return { role, content, stop_reason };
}

function expect(isKept: boolean, message: string): void {
  if (!isKept) throw new Error(`The stage breaks a rule: ${message}.`);
}
