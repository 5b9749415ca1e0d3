import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  Agent,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import type { ProtocolKey } from '@gw2api/gateway/plugin';
import type { RecordedRequest } from '#plugins/upstreams/simulator/recorded-request.js';
import type { Simulator, SimulatorOptions } from '#plugins/upstreams/simulator/server.js';
import { slotAt, startPair, type GatewayUnderTest, type Pair } from './harness.js';

/** A pair with two slots, `a` and `b`, over one simulator, which tells them apart by their keys. */
export function startTeam(
  config: Readonly<Record<string, unknown>> = {},
  { a = {}, b = {} }: { readonly a?: object; readonly b?: object } = {},
  simulatorOptions: SimulatorOptions = {},
): Promise<Pair> {
  const slots = (url: string) => [slotAt(url, a), slotAt(url, { ...slotB, ...b })];
  return startPair(config, simulatorOptions, slots);
}

const slotB = { id: 'b', account: { kind: 'api-key', key: 'upstream-key-b' } };

/** The fault in one slot of a team: `only('a', '429 retry-after=2')`. */
export function only(slot: 'a' | 'b', fault: string): string {
  return `${fault} for=upstream-key-${slot}`;
}

/** The model calls that a simulator saw; usage-mask counts tokens beside them. */
export function callsTo({ requests }: Simulator): readonly RecordedRequest[] {
  return requests.filter(({ path }) => path === '/v1/messages');
}

/** The body of the last model call. */
export function lastCall(simulator: Simulator): Readonly<Record<string, unknown>> {
  return callsTo(simulator).at(-1)!.body as Readonly<Record<string, unknown>>; // the simulator has accepted it
}

export interface ErrorAnswer {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
}

/** What an error answer says. Throws where it is not exactly the default error object, `{"error":{"type","code","message"}}`. */
export async function errorIn(response: Response): Promise<ErrorAnswer> {
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  if (!/^application\/json(;|$)/.test(type)) throw new Error(`${response.status} ${type}: ${text}`);
  return readError(response.status, text);
}

/** As `errorIn`, of an answer that was read already. */
export function readError(status: number, text: string): ErrorAnswer {
  const body = JSON.parse(text) as { error: ErrorAnswer }; // checked by the keys
  const keys = Object.keys(body.error).filter((key) => key !== 'details');
  const shape = `${Object.keys(body).join()} ${keys.join()}`;
  if (!shapes.has(shape)) throw new Error(`not an error object: ${text}`);
  const { param: _, ...error } = body.error as ErrorAnswer & { param?: unknown };
  return { ...error, status };
}

/** Members of error bodies: the default ones, and those that Messages, OpenAI and shared paths have beside them. */
const shapes: ReadonlySet<string> = new Set([
  'error type,code,message',
  'type,error,request_id type,code,message',
  'error type,code,message,param',
  'type,error,request_id type,code,message,param',
]);

export interface RawRequest {
  /** In place of the URL's, and sent as it stands here. */
  readonly path?: string;
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Each one a chunk, unless `content-length` is among the headers. */
  readonly pieces?: readonly (string | Buffer)[];
  readonly agent?: Agent;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request such as fetch would not send, on a connection of its own. */
export async function raw(url: string, options: RawRequest = {}): Promise<RawAnswer> {
  const { method = 'GET', headers = {}, pieces = [], agent = new Agent(), path } = options;
  const sent = request(url, { method, headers, agent, ...(path !== undefined && { path }) });
  for (const piece of pieces) sent.write(piece);
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(chunks).toString(),
  };
}

/** Puts a protocol key into the store of a gateway and gives the key itself. */
export async function issueKey(
  { gateway }: GatewayUnderTest,
  name: string,
  fields: Partial<ProtocolKey> = {},
): Promise<string> {
  const key = `sk-gw-${name}`;
  const hash = createHash('sha256').update(key).digest('hex');
  const last4 = key.slice(-4);
  await gateway.services.store.keys.put({ id: name, name, hash, last4, createdAtMs: 0, ...fields });
  return key;
}

/** The log lines of requests, as soon as all responses have closed. */
export async function requestLines({
  gateway,
  logged,
}: GatewayUnderTest): Promise<readonly Readonly<Record<string, unknown>>[]> {
  await gateway.exchanges.idle();
  return logged.filter(({ msg }) => msg === 'request');
}

/** How many places each slot has given away. */
export function inFlight({ gateway }: GatewayUnderTest): readonly number[] {
  return gateway.services.slots.list().map((slot) => slot.inFlight);
}

export function stateOf({ gateway }: GatewayUnderTest, id: string): string {
  return gateway.services.slots.list().find((slot) => slot.id === id)!.state;
}
