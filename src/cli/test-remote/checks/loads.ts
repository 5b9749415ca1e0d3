import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { asError } from '../../../kit/time/within.js';
import { review } from '../answer-review.js';
import type { RemoteCheck } from '../check.js';
import { CheckFailure } from '../check-failure.js';
import { openPost } from '../http-post.js';
import { answerQuestion, conversation, requestQuestion, usage } from '../questions.js';
import type { RemoteServer } from '../remote-server.js';
import { pieces, textAnswer } from '../samples.js';

/** Checks of sizes, connections and broken calls. */
export const loadChecks: readonly RemoteCheck[] = [
  {
    name: 'growing-conversation',
    rule: 'answers about each request of a conversation that grows to 50 turns',
    async run(server) {
      for (let turns = 1; turns <= 50; turns += 1)
        await server.ask(requestQuestion({ request: { messages: conversation(turns) } }));
    },
  },
  {
    name: 'huge-request',
    rule: 'answers about messages of 10 MB',
    async run(server) {
      const content = 'A sentence of a long document. '.repeat(350_000);
      await server.ask(requestQuestion({ request: { messages: [{ role: 'user', content }] } }));
    },
  },
  {
    name: 'huge-answer',
    rule: 'answers about an answer of 1 MB, whole and as 10,000 events',
    async run(server) {
      const text = 'A sentence of a long answer. '.repeat(35_000);
      const content = [{ type: 'text', text }];
      await server.ask(answerQuestion({ answer: { content, stop_reason: 'end_turn', usage } }));
      await review(server, [textAnswer(pieces(text, 100))]);
    },
  },
  {
    name: 'abort-in-body',
    rule: 'serves on after calls that break within the question',
    run: (server) => servesAfterAborts(server, (body) => body.subarray(0, body.length / 2)),
  },
  {
    name: 'abort-before-reply',
    rule: 'serves on after calls that break before the reply',
    run: (server) => servesAfterAborts(server, (body) => body),
  },
  {
    name: 'keep-alive',
    rule: 'keeps a connection for further questions',
    async run(server) {
      const replies = await askInTurn(server, 20);
      const opened = replies.filter(({ isReused }) => !isReused).length;
      if (opened > 2) throw new CheckFailure(`20 questions in turn took ${opened} connections`);
    },
  },
  {
    name: 'no-delay',
    rule: 'sends a reply without the delay of Nagle’s algorithm',
    async run(server) {
      const times = (await askInTurn(server, 40)).map(({ bodyMs }) => bodyMs);
      const late = times.filter((ms) => ms > 20).length;
      if (late > 10)
        throw new CheckFailure(
          `in ${late} of 40 replies the body came more than 20 ms behind its head: set TCP_NODELAY, or write both at once`,
        );
    },
  },
  {
    name: 'idle-connections',
    rule: 'answers while other connections are idle',
    async run(server) {
      const silent = await silentConnection(server);
      try {
        await askAtOnce(server, 8);
        await server.serves('with nine idle connections');
      } finally {
        silent.destroy();
      }
    },
  },
  {
    name: 'at-once',
    rule: 'answers 64 questions at once',
    run: (server) => askAtOnce(server, 64),
  },
];

/** A connection that sends nothing. */
async function silentConnection({ target: { url }, signal }: RemoteServer): Promise<Socket> {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const socket = connect(port, url.hostname.replaceAll(/[[\]]/g, ''));
  socket.on('error', () => socket.destroy()); // a server may close it at any time
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    throw new CheckFailure(asError(error).message, { cause: error });
  }
}

async function askAtOnce(server: RemoteServer, count: number): Promise<void> {
  const agent = server.connections(count);
  await Promise.all(Array.from({ length: count }, () => server.ask(requestQuestion(), agent)));
}

async function askInTurn(
  server: RemoteServer,
  count: number,
): Promise<Awaited<ReturnType<RemoteServer['send']>>[]> {
  const agent = server.connections(1);
  const replies = [];
  for (let at = 0; at < count; at += 1) {
    const reply = await server.send({ body: JSON.stringify(requestQuestion()), agent });
    if (reply.status !== 200) throw new CheckFailure(`it answered ${reply.status}`);
    replies.push(reply);
  }
  return replies;
}

/** Breaks calls once a part of their body is sent; then asks as ever. */
async function servesAfterAborts(server: RemoteServer, part: (body: Buffer) => Buffer): Promise<void> {
  const messages = [{ role: 'user', content: 'A sentence of a document. '.repeat(10_000) }];
  for (let at = 0; at < 5; at += 1) {
    const body = Buffer.from(JSON.stringify(requestQuestion({ request: { messages } })));
    const request = openPost(server.messageOf({ body, agent: server.connections(1) }, server.signal));
    const closed = new Promise((resolve) => request.on('close', resolve));
    request.on('error', () => request.destroy()); // its close follows
    await new Promise<void>((resolve) => request.write(part(body), () => resolve()));
    request.destroy();
    await closed;
  }
  await delay(settleMs, undefined, { signal: server.signal });
  for (let at = 0; at < 3; at += 1) await server.serves('after broken calls');
}

/** Time in which a server notices that a call is broken. */
const settleMs = 200;
