import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import type { Suite } from 'mocha';
import { ProcessWorkshop, type GatewayProcess } from '../../gateway-process.js';
import type { HeldAnswer, HeldUpstream } from '../../held-upstream.js';

export const workshop = new ProcessWorkshop();

/** Each of them is three processes, which take their time to start where cores are few. */
export function endProcesses(suite: Suite): void {
  suite.timeout(40_000);
  afterEach(() => workshop.end());
}

export const key = 'the-master-key';
export const env = { GW2API_API_KEY: key };

export const uses = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];

export interface Settings {
  readonly slots?: readonly object[];
  readonly listen?: object;
  readonly pipeline?: readonly object[];
}

/** A config for two workers, as JSON, which is YAML too. */
export function configOf({ slots, listen = {}, pipeline = [] }: Settings = {}): string {
  return JSON.stringify({
    listen: { workers: 2, shutdownTimeout: '2s', ...listen },
    pipeline: [...pipeline, ...uses.map((use) => ({ use }))],
    slots: slots ?? [{ id: 'a', upstream: 'simulator' }],
  });
}

export function slotAt(url: string, settings: object = {}): object {
  return { id: 'a', upstream: 'messages', baseUrl: url, account: { kind: 'none' }, ...settings };
}

export const file = 'config/gateway.yaml';

export async function startWith(settings: Settings = {}, files: Readonly<Record<string, string>> = {}) {
  const cwd = await workshop.folder({ [file]: configOf(settings), ...files });
  const gateway = await workshop.start({ cwd, env });
  return { gateway, cwd, url: await gateway.url() };
}

export interface Answer {
  readonly response: IncomingMessage;
  readonly id: string;
  text(): Promise<string>;
}

/** Over a connection of its own, so that the primary chooses a worker for it. */
export async function send(
  url: string,
  {
    body,
    headers = {},
    method = body ? 'POST' : 'GET',
  }: { body?: object; headers?: object; method?: string } = {},
): Promise<Answer> {
  const id = `test-${randomUUID()}`;
  const given = { 'x-api-key': key, 'content-type': 'application/json', 'x-request-id': id, ...headers };
  const sent = request(url, { method, agent: false, headers: given });
  sent.end(body && JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const text = async () => {
    let all = '';
    for await (const chunk of response) all += String(chunk);
    return all;
  };
  return { response, id, text };
}

export function ask(text: string, fields: object = {}): object {
  return { model: 'sonnet-5', max_tokens: 100, messages: [{ role: 'user', content: text }], ...fields };
}

export async function answered(
  url: string,
  text = 'Hi',
  headers: object = {},
  fields: object = {},
): Promise<Answer> {
  const answer = await send(`${url}/v1/messages`, { body: ask(text, fields), headers });
  await answer.text();
  return answer;
}

/** The process that has answered. */
export async function pidOf(gateway: GatewayProcess, { id }: Answer): Promise<number> {
  return Number((await gateway.line((line) => line['id'] === id && line.msg === 'request'))['pid']);
}

/** The processes that answer, each at least once, in the order in which connections come to them. */
export async function pidsOf(gateway: GatewayProcess, url: string): Promise<readonly number[]> {
  const pids = new Set<number>();
  for (let tries = 0; pids.size < 2 && tries < 20; tries += 1)
    pids.add(await pidOf(gateway, await answered(url)));
  expect(pids.size, 'workers that answer').to.equal(2);
  return [...pids];
}

/** The slots that answer on some connections in a row. */
export async function slotsOf(url: string): Promise<readonly unknown[]> {
  const answers = [];
  for (let count = 0; count < 6; count += 1) answers.push(await answered(url));
  return [...new Set(answers.map(({ response }) => response.headers['x-gw-slot']))];
}

interface HeldStream {
  readonly stream: Answer;
  readonly answer: HeldAnswer;
}

/** A stream in each of two workers, begun. */
export async function startStreams(
  upstream: HeldUpstream,
  url: string,
  fields: object = {},
): Promise<readonly HeldStream[]> {
  const streams: HeldStream[] = [];
  for (let count = 0; count < 2; count += 1) {
    const stream = await send(`${url}/v1/messages`, { body: ask('Hi', { stream: true, ...fields }) });
    streams.push({ stream, answer: await upstream.next() });
  }
  return streams;
}
