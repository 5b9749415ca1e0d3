import { once } from 'node:events';
import { request as sendRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

export interface StageRequest {
  /** POST by default. */
  readonly method?: string;
  /** With its query string; `/v1/messages` by default. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body: a string or bytes are sent unchanged, anything else as JSON with its content type. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Parsed if it is JSON, else the text. */
  readonly body: unknown;
}

/** Sends one request on a connection of its own and reads the whole answer. */
export async function send(origin: string, request: StageRequest): Promise<Answer> {
  const { method = 'POST', path = '/v1/messages', headers = {}, body } = request;
  const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  const type = isRaw ? {} : { 'content-type': 'application/json' };
  const sent = sendRequest(new URL(path, origin), { method, headers: { ...type, ...headers }, agent: false });
  sent.end(isRaw ? body : JSON.stringify(body));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]; // the event's one argument
  const received = await text(answer);
  const isJson = /\bjson\b/.test(answer.headers['content-type'] ?? '');
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: isJson ? JSON.parse(received) : received,
  };
}
