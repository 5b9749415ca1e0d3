import type { ServerResponse } from 'node:http';
import { scripted } from '../../scripted-upstream.js';

type Fields = Readonly<Record<string, unknown>>;

/** A server of Chat Completions and Responses that keeps what it is sent. */
export interface OpenaiServer {
  readonly url: string;
  /** Bodies of the calls, the latest one last. */
  readonly bodies: Fields[];
  /** Ids of its list; undefined: it has none. */
  models: readonly string[] | undefined;
  /** True: the list is a bare array. */
  isBareList: boolean;
  /** Words of a 400; undefined: the call is answered. */
  refuse: (body: Fields) => string | undefined;
  /** Deltas of a Chat answer, and its finish reason. */
  answer: { readonly deltas: readonly object[]; readonly finish?: string };
  close(): Promise<void>;
}

export async function startOpenaiServer(): Promise<OpenaiServer> {
  const bodies: Fields[] = [];
  const server = await scripted((request, response, _, text) => {
    if (request.method === 'GET') return answerList(response, started);
    const body = JSON.parse(text) as Fields;
    bodies.push(body);
    const message = started.refuse(body);
    if (message !== undefined)
      return response.writeHead(400, { 'content-type': 'application/json' }).end(errorOf(message));
    const { deltas, finish = 'stop' } = started.answer;
    const answer = request.url?.endsWith('/responses') ? responseEvents : chunks(deltas, finish);
    return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer);
  });
  const started: OpenaiServer = {
    ...server,
    bodies,
    models: undefined,
    isBareList: false,
    refuse: () => undefined,
    answer: { deltas: [{ content: 'Blue.' }] },
  };
  return started;
}

function answerList(
  response: ServerResponse,
  { models, isBareList }: Pick<OpenaiServer, 'models' | 'isBareList'>,
): void {
  const data = models?.map((id) => ({ id, object: 'model' }));
  const body = data ? (isBareList ? data : { object: 'list', data }) : { error: { message: 'Not found' } };
  response.writeHead(data ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function errorOf(message: string): string {
  return JSON.stringify({ error: { type: 'invalid_request_error', message } });
}

const data = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;

function chunks(deltas: readonly object[], finish: string): string {
  const chunk = (delta: object, finish_reason: string | null) =>
    data({ id: 'chatcmpl-7', model: 'm', choices: [{ index: 0, delta, finish_reason }] });
  return [...deltas.map((delta) => chunk(delta, null)), chunk({}, finish), 'data: [DONE]\n\n'].join('');
}

const text = 'Blue.';
const place = { output_index: 0, content_index: 0 };
const responseEvents = [
  { type: 'response.created', response: { id: 'resp_7', model: 'm' } },
  { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm', content: [] } },
  { type: 'response.output_text.delta', ...place, delta: text },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: { type: 'message', id: 'm', content: [{ type: 'output_text', text }] },
  },
  { type: 'response.completed', response: { id: 'resp_7', status: 'completed', output: [] } },
]
  .map(data)
  .join('');
