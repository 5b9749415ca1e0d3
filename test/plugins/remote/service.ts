import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Question {
  readonly headers: IncomingMessage['headers'];
  readonly path: string;
  readonly text: string;
  /** Its parsed JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- any JSON
  readonly body: any;
}

/** Reply: a verdict with its fields, or what is done with the response. */
export type Answerer = (question: Question) => object | ((response: ServerResponse) => void);

export interface Service {
  readonly url: string;
  readonly questions: Question[];
  close(): Promise<void>;
}

/** Serves a remote stage, and records its questions. */
export async function serveRemote(answer: Answerer): Promise<Service> {
  const questions: Question[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    request.on('end', () => {
      const { headers, url: path = '' } = request;
      const question = { headers, path, text, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
      questions.push(question);
      const reply = answer(question);
      if (typeof reply === 'function') return reply(response);
      const isOther = 'action' in reply;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(isOther ? reply : { version: 1, ...reply }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/check`,
    questions,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
