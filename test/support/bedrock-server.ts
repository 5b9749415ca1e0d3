import { once } from 'node:events';
import {
  createServer,
  request as ask,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createParser } from 'eventsource-parser';
import { encodeFrame } from '#plugins/upstreams/bedrock/frames.js';
import {
  startSimulator,
  type Simulator,
  type SimulatorOptions,
} from '#plugins/upstreams/simulator/server.js';

/** A request as Bedrock was sent it. */
export interface BedrockRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Answer in place of the simulator's. */
export interface BedrockAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface BedrockServer {
  readonly url: string;
  readonly simulator: Simulator;
  /** Calls, oldest first; what is asked by GET is answered with 404 and not among them. */
  readonly requests: readonly BedrockRequest[];
  /** Called for each call; what it gives is the answer. */
  intercept: (request: BedrockRequest) => BedrockAnswer | undefined;
  close(): Promise<void>;
}

/** A Bedrock runtime over a simulator, whose server-sent events it puts into frames. */
export async function startBedrock(options: SimulatorOptions = {}): Promise<BedrockServer> {
  const simulator = await startSimulator(options);
  const requests: BedrockRequest[] = [];
  const bedrock: { intercept: BedrockServer['intercept'] } = { intercept: () => undefined };
  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch((error: unknown) => response.destroy(error as Error));
  });
  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming);
    // Models are listed at a time of the gateway's own, and Bedrock lists none here.
    if (request.method === 'GET') return refuse(response, 404, 'UnknownOperationException', 'No such path.');
    requests.push(request);
    const own = bedrock.intercept(request);
    if (own)
      response.writeHead(own.status, { 'content-type': 'application/json', ...own.headers }).end(own.body);
    else await forward(request, simulator, response);
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  return Object.assign(bedrock, {
    url: `http://127.0.0.1:${port}`,
    simulator,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await simulator.close();
    },
  });
}

async function readRequest(incoming: IncomingMessage): Promise<BedrockRequest> {
  const { method = '', url: path = '', headers } = incoming;
  const body = await text(incoming);
  return { method, path, headers, text: body, body: JSON.parse(body || '{}') as BedrockRequest['body'] };
}

const modelPath = /^\/model\/([^/]+)\/(invoke-with-response-stream|count-tokens)$/;

async function forward(request: BedrockRequest, simulator: Simulator, to: ServerResponse): Promise<void> {
  const [, model, operation] = modelPath.exec(request.path) ?? [];
  if (model === undefined) return refuse(to, 404, 'UnknownOperationException', 'No such path.');
  const isCount = operation === 'count-tokens';
  const fields = isCount ? countedBody(request.body) : request.body;
  if (!('anthropic_version' in fields) || 'model' in fields || 'stream' in fields)
    return refuse(to, 400, 'ValidationException', 'extraneous or missing key');
  const { anthropic_version: _, anthropic_beta: betas, max_tokens: limit, ...rest } = fields;
  const sent = {
    ...rest,
    model: decodeURIComponent(model),
    ...(isCount ? {} : { max_tokens: limit, stream: true }),
  };
  const answer = await send(
    simulator,
    isCount ? '/v1/messages/count_tokens' : '/v1/messages',
    sent,
    betas,
    to,
  );
  const { statusCode: status = 0, headers } = answer;
  if (status !== 200) await passRefusal(answer, to);
  else if (isCount) answerCount(await text(answer), to);
  else {
    const type =
      headers['content-type']?.startsWith('text/event-stream') === true ? frameType : headers['content-type'];
    to.writeHead(200, { 'content-type': type, 'x-amzn-requestid': headers['request-id'] ?? 'none' });
    await passEvents(answer, to);
  }
}

const frameType = 'application/vnd.amazon.eventstream';

function countedBody({ input }: BedrockRequest['body']): BedrockRequest['body'] {
  const { invokeModel } = Object(input) as { invokeModel?: { body?: string } };
  return JSON.parse(Buffer.from(invokeModel?.body ?? 'e30=', 'base64').toString()) as BedrockRequest['body'];
}

async function send(
  simulator: Simulator,
  path: string,
  body: object,
  betas: unknown,
  to: ServerResponse,
): Promise<IncomingMessage> {
  const headers = {
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
    'x-api-key': 'bedrock',
    ...(Array.isArray(betas) && { 'anthropic-beta': betas.join() }),
  };
  const asking = ask(`${simulator.url}${path}`, { method: 'POST', headers });
  to.once('close', () => asking.destroy());
  asking.on('error', () => to.destroy()); // as the simulator does, so does this server
  asking.end(JSON.stringify(body));
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  return answer;
}

async function passRefusal(answer: IncomingMessage, to: ServerResponse): Promise<void> {
  const { error } = JSON.parse(await text(answer)) as { error: { message: string } };
  const status = answer.statusCode ?? 500;
  const after = answer.headers['retry-after'];
  if (after !== undefined) to.setHeader('retry-after', after);
  refuse(to, status, exceptionNames[status] ?? 'ValidationException', error.message);
}

function refuse(to: ServerResponse, status: number, name: string, message: string): void {
  const type = `${name}:http://internal.amazon.com/coral/com.amazon.bedrock/`;
  to.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': type });
  to.end(JSON.stringify({ message }));
}

const exceptionNames: Readonly<Record<number, string>> = {
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
};

function answerCount(body: string, to: ServerResponse): void {
  const { input_tokens: inputTokens } = JSON.parse(body) as { input_tokens: number };
  to.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ inputTokens }));
}

/** Puts each event into a frame, at the pace of the reader; breaks off where the simulator does. */
async function passEvents(answer: IncomingMessage, to: ServerResponse): Promise<void> {
  const frames: Buffer[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => frames.push(frameOf(event, data)) });
  try {
    for await (const bytes of answer as AsyncIterable<Buffer>) {
      parser.feed(bytes.toString());
      const hasRoom = frames.length === 0 || to.write(Buffer.concat(frames.splice(0)));
      if (!hasRoom && !to.destroyed) await Promise.race([once(to, 'drain'), once(to, 'close')]);
      if (to.destroyed) return;
    }
    to.end();
  } catch {
    to.destroy(); // the simulator has broken off
  }
}

/** Frame of an event; one of an error is an exception. */
function frameOf(event: string | undefined, data: string): Buffer {
  if (event === 'error') {
    const { error } = JSON.parse(data) as { error: { type: string; message: string } };
    return exceptionFrame(exceptionOf[error.type] ?? 'internalServerException', error.message);
  }
  const payload = JSON.stringify({ bytes: Buffer.from(data).toString('base64'), p: 'abcdefghijkl' });
  return encodeFrame({
    headers: { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' },
    payload: Buffer.from(payload),
  });
}

export function exceptionFrame(name: string, message: string): Buffer {
  return encodeFrame({
    headers: { ':exception-type': name, ':content-type': 'application/json', ':message-type': 'exception' },
    payload: Buffer.from(JSON.stringify({ message })),
  });
}

const exceptionOf: Readonly<Record<string, string>> = {
  overloaded_error: 'serviceUnavailableException',
  rate_limit_error: 'throttlingException',
  invalid_request_error: 'validationException',
  timeout_error: 'modelTimeoutException',
};
