import { createParser } from 'eventsource-parser';
import { request, type Dispatcher } from 'undici';
import type { MessagesResponse, MessagesStreamEvent } from '@gw2api/gateway/plugin';
import type { Simulator } from '#plugins/upstreams/simulator/server.js';

export const headers = {
  'x-api-key': 'test-key',
  'anthropic-version': '2023-06-01',
  'content-type': 'application/json',
};

/** A request whose only message says `text`. */
export function saying(text: string, fields: object = {}): object {
  return { model: 'sonnet-5', max_tokens: 4096, messages: [{ role: 'user', content: text }], ...fields };
}

export function post(
  { url }: Simulator,
  body: unknown,
  { path = '/v1/messages', ...options }: { path?: string } & Partial<Dispatcher.RequestOptions> = {},
): Promise<Dispatcher.ResponseData> {
  return request(url + path, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...options,
  });
}

/** The whole answer to a request. */
export async function ask(simulator: Simulator, body: object): Promise<MessagesResponse> {
  const { statusCode, body: answer } = await post(simulator, { ...body, stream: false });
  const json = await answer.json();
  if (statusCode !== 200) throw new Error(`${statusCode} ${JSON.stringify(json)}`);
  return json as MessagesResponse;
}

/** Status and `error` of a refused request. */
export async function refusal(
  simulator: Simulator,
  body: unknown,
  options?: Parameters<typeof post>[2],
): Promise<{ status: number; type: string; message: string; details?: unknown }> {
  const { statusCode, body: answer } = await post(simulator, body, options);
  const { error } = (await answer.json()) as { error: { type: string; message: string } };
  return { status: statusCode, ...error };
}

/** The events of a streamed answer. */
export async function stream(simulator: Simulator, body: object): Promise<MessagesStreamEvent[]> {
  const { body: answer } = await post(simulator, { ...body, stream: true });
  return parseEvents(await answer.text());
}

export function parseEvents(text: string): MessagesStreamEvent[] {
  const events: MessagesStreamEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (data === '[DONE]') return;
      const json = JSON.parse(data) as MessagesStreamEvent;
      if (event !== undefined && event !== json.type) throw new Error(`event: ${event} is not ${json.type}`);
      events.push(json);
    },
  });
  parser.feed(text);
  if (text.endsWith('\r')) parser.feed('\n'); // a CR at the very end might have been half of a CR LF
  return events;
}

/** What breaks the grammar of a Messages stream; undefined where nothing does. */
export function grammarProblem(events: readonly MessagesStreamEvent[]): string | undefined {
  const [start, ...rest] = events.filter(({ type }) => type !== 'ping');
  if (start?.type !== 'message_start') return 'does not begin with message_start';
  if (rest.at(-1)?.type !== 'message_stop') return 'does not end with message_stop';
  const ending = rest.at(-2);
  if (ending?.type !== 'message_delta') return 'has no message_delta before message_stop';
  return blocksProblem(rest.slice(0, -2), ending.delta.stop_reason === 'max_tokens');
}

function blocksProblem(events: readonly MessagesStreamEvent[], mayStayOpen: boolean): string | undefined {
  let open: number | undefined;
  let next = 0;
  for (const event of events) {
    if (event.type === 'content_block_start') {
      if (open !== undefined || event.index !== next) return `block ${event.index} starts out of order`;
      open = next;
      next += 1;
    } else if (event.type === 'content_block_delta' || event.type === 'content_block_stop') {
      if (event.index !== open) return `${event.type} for block ${event.index} while ${open} is open`;
      if (event.type === 'content_block_stop') open = undefined;
    } else return `${event.type} among the blocks`;
  }
  return open !== undefined && !mayStayOpen ? `block ${open} is never closed` : undefined;
}
