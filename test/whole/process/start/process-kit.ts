import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';

export const key = 'the-master-key';
export const env = { GW2API_API_KEY: key };

/** A `gateway.yaml` with every stage that an answer needs. */
export function yaml(slots = '[{ id: a, upstream: simulator }]', listen = '{}'): string {
  const uses = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];
  return `listen: ${listen}\npipeline:\n${uses.map((use) => `  - use: ${use}\n`).join('')}slots: ${slots}\n`;
}

/** The `.env` of a folder. */
export async function envOf(folder: string): Promise<string> {
  return readFile(path.join(folder, '.env'), 'utf8');
}

/** `ENOENT` where a folder has no `.env`. */
export async function faultOfEnv(folder: string): Promise<string | undefined> {
  return envOf(folder).catch((error: NodeJS.ErrnoException) => error.code);
}

export function post(
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, ...headers },
    body: JSON.stringify(body),
  });
}

export function ask(text: string, fields: object = {}): object {
  return { model: 'sonnet-5', max_tokens: 100, messages: [{ role: 'user', content: text }], ...fields };
}

/** A port of the loopback address on which somebody else listens. */
export async function takePort(): Promise<{ readonly port: number; readonly free: () => void }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, free: () => void server.close() }; // it listens on TCP
}
