import { expect } from 'chai';
import { foldMessage } from '#src/plugin/index.js';
import { keyedCall, openChat, sseOf } from '../../../plugins/upstreams/chat/server.js';
import { chunk } from '../../../plugins/upstreams/chat/stream/answers.js';
import { Kit, aCall, answer, collect, rejection, turn } from '../upstream-kit.js';

const text = sseOf(chunk({ content: 'Hi' }), chunk({}, 'stop'), '[DONE]');
const whole = answer.start + answer.delta('Hi') + answer.stop;
const labels = [
  undefined,
  'application/json',
  'text/plain; charset=utf-8',
  'application/octet-stream',
] as const;

describe('server-sent events under another name', () => {
  const kit = new Kit();
  afterEach(() => kit.close());

  for (const label of labels)
    it(`are read by their first bytes where the media type is ${label ?? 'missing'}`, async () => {
      const head = label === undefined ? {} : { 'content-type': label };
      const url = await kit.serve(async (request, response) => {
        request.resume();
        const sent = request.url?.endsWith('/messages') ? `: hello\n\n${whole}` : `\n${text}`;
        response.writeHead(200, head).write(sent.slice(0, 3));
        await turn();
        response.end(sent.slice(3));
      });
      const chat = await (await openChat(kit, url)).generate(keyedCall());
      expect((await foldMessage(chat.events)).content).to.deep.equal([{ type: 'text', text: 'Hi' }]);
      const messages = await (await kit.open(url)).generate(aCall());
      expect((await collect(messages.events)).error).to.equal(undefined);
    });

  it('are not what JSON and a page are', async () => {
    for (const [label, body] of [
      ['application/json', '{"data":1}'],
      ['text/plain', 'Welcome'],
      ['text/html', text],
      ['text/plain', ''],
    ] as const) {
      const url = await kit.serve((request, response) => {
        request.resume();
        response.writeHead(200, { 'content-type': label }).end(body);
      });
      const upstream = await openChat(kit, url);
      expect(await rejection(upstream.generate(keyedCall()))).to.have.property(
        'code',
        'upstream_invalid_response',
      );
    }
  });

  it('are read behind 100 Continue, however that is cut', async () => {
    const interim = 'HTTP/1.1 100 Continue\r\nx-a: b\r\n\r\n';
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n';
    for (const at of [5, 12, 25, interim.length, interim.length + 4]) {
      const sent = interim + head + text;
      const url = await kit.serveSockets((socket) => {
        socket.once('data', () => {
          socket.write(sent.slice(0, at), () => setImmediate(() => socket.end(sent.slice(at))));
        });
      });
      const { events } = await (await openChat(kit, url)).generate(keyedCall());
      expect((await foldMessage(events)).content, `cut at ${at}`).to.deep.equal([
        { type: 'text', text: 'Hi' },
      ]);
    }
  });
});
