import { createParser } from 'eventsource-parser';
import { basePath } from '../state/base-path.js';
import { signedOut } from '../state/session.js';

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface CallOptions {
  readonly query?: Query;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** A list of the console API. */
export interface List<Item> {
  readonly data: readonly Item[];
}

/** A part of a list that is read page by page. */
export interface ListPage<Item> extends List<Item> {
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/**
 * Calls the console API; the shape of the answer is trusted, because the page is shipped with the API. Throws
 * `ConsoleError`; an ended session also leads to the login.
 */
export async function call<Answer>(method: Method, path: string, options: CallOptions = {}): Promise<Answer> {
  const response = await send(method, path, options);
  if (!response.ok) {
    const error = await errorOf(response);
    if (error.status === 401 && path !== '/login') signedOut();
    throw error;
  }
  if (response.status === 204) return undefined as Answer; // asked for by calls that expect no body
  return (await response.json()) as Answer;
}

/** Items of a list of the console API. Throws as `call`. */
export async function fetchList<Item>(
  path: string,
  signal?: AbortSignal,
  query?: Query,
): Promise<readonly Item[]> {
  return (await call<List<Item>>('GET', path, { signal, ...(query && { query }) })).data;
}

/** Path of one item of a list. */
export function pathOf(path: string, id: string, rest = ''): string {
  return `${path}/${encodeURIComponent(id)}${rest}`;
}

/**
 * Posts a request whose answer is a stream of server-sent events, and hands each one on with its data parsed. Throws
 * as `call`; resolves at the end of the stream.
 */
export async function stream(
  path: string,
  body: unknown,
  signal: AbortSignal,
  onEvent: (type: string, data: unknown) => void,
): Promise<void> {
  const response = await send('POST', path, { body, signal });
  if (!response.ok || !response.body) {
    const error = await errorOf(response);
    if (error.status === 401) signedOut();
    throw error;
  }
  const parser = createParser({ onEvent: ({ event = '', data }) => onEvent(event, JSON.parse(data)) });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) parser.feed(read.value);
}

async function send(
  method: Method,
  path: string,
  { query = {}, body, signal }: CallOptions,
): Promise<Response> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (method !== 'GET') headers['x-csrf-token'] = csrfToken();
  if (!isAttended()) headers['x-gw-unattended'] = '1';
  try {
    return await fetch(apiUrl(path, query), {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ConsoleError(
      0,
      'unreachable',
      'The gateway does not answer. Is it running, and is your network up?',
    );
  }
}

/** URL of a path of the API, without query parameters that are not set. */
export function apiUrl(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${basePath}/api/panel${path}${search && `?${search}`}`;
}

function csrfToken(): string {
  const cookies = document.cookie.split('; ');
  const secured = `${basePath === '' ? '__Host-' : '__Secure-'}gw_csrf=`;
  for (const name of [secured, 'gw_csrf=']) {
    const cookie = cookies.find((part) => part.startsWith(name));
    if (cookie) return decodeURIComponent(cookie.slice(name.length));
  }
  return '';
}

let lastInputMs = Date.now();

for (const type of ['pointerdown', 'pointermove', 'keydown', 'wheel'])
  window.addEventListener(type, () => void (lastInputMs = Date.now()), { passive: true, capture: true });

/** True if the page was used within the last minute. */
function isAttended(): boolean {
  return Date.now() - lastInputMs < 60_000;
}

/** A failed call: code and message of the API, or our own with status 0 if it could not be reached. */
export class ConsoleError extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | null;

  constructor(status: number, code: string, message: string, retryAfterSeconds: number | null = null) {
    super(message);
    this.name = 'ConsoleError';
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Converts a thrown value to an error for display; not for aborted calls, which are not errors. */
export function toConsoleError(thrown: unknown): ConsoleError {
  if (thrown instanceof ConsoleError) return thrown;
  return new ConsoleError(0, 'page', thrown instanceof Error ? thrown.message : String(thrown));
}

/** Reads `{"error":{…}}`; any other answer (a proxy's page) becomes a message with its status. */
async function errorOf(response: Response): Promise<ConsoleError> {
  const waitSeconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const retryAfter = Number.isFinite(waitSeconds) ? waitSeconds : null;
  const body: unknown = await response.json().catch(() => null);
  const { error } = Object(body) as { error?: { code?: unknown; message?: unknown } }; // checked below
  const code = typeof error?.code === 'string' ? error.code : 'unexpected_answer';
  const message =
    typeof error?.message === 'string'
      ? error.message
      : `The gateway answered with status ${response.status} and no explanation.`;
  return new ConsoleError(response.status, code, message, retryAfter);
}
