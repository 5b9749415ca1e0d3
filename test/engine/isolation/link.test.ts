import { expect } from 'chai';
import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { GatewayError } from '@gw2api/gateway/plugin';
import { Link, type LinkHandlers } from '#src/engine/isolation/wire/link.js';
import type { WireFault } from '#src/engine/isolation/wire/frames.js';
import { ErrorNotes } from '#src/engine/isolation/wire/wire-errors.js';

describe('the link between a gateway and a child process', () => {
  let server: net.Server;
  let sockets: readonly [Socket, Socket];
  const faults: (WireFault | undefined)[] = [];

  beforeEach(async () => {
    faults.length = 0;
    server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
    sockets = [client, (await accepted)[0]];
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const linkOf = (socket: Socket, handlers: Partial<LinkHandlers> = {}, maxOpen = 100) =>
    new Link(socket, {
      calls: {},
      notes: {},
      ...handlers,
      maxOpen,
      errors: new ErrorNotes(),
      onEnd: (fault) => faults.push(fault),
    });
  const raw = (text: string) => {
    const body = Buffer.from(text);
    const size = Buffer.alloc(4);
    size.writeUInt32BE(body.length);
    sockets[1].write(Buffer.concat([size, body]));
  };

  it('answers questions on both sides, each with its own answer', async () => {
    const double = { calls: { double: (value: unknown) => Number(value) * 2 } };
    const [one, other] = [linkOf(sockets[0], double), linkOf(sockets[1], double)];
    const asked = [1, 2, 3].flatMap((value) => [one.call('double', value), other.call('double', value)]);
    expect(await Promise.all(asked)).to.deep.equal([2, 2, 4, 4, 6, 6]);
  });

  it('passes errors on, and gives one that comes back as the same object', async () => {
    const own = new Error('mine');
    const denied = new GatewayError('stage_denied', 'No.', { status: 429, headers: { 'retry-after': '3' } });
    const one = linkOf(sockets[0], {
      calls: { fail: () => Promise.reject(own), deny: () => Promise.reject(denied) },
    });
    const other = linkOf(sockets[1], { calls: { relay: () => other.call('fail', null) } });
    expect(await one.call('relay', null).catch((error: unknown) => error)).to.equal(own);
    const received = (await other.call('deny', null).catch((error: unknown) => error)) as GatewayError;
    expect(received).to.include({ code: 'stage_denied', status: 429, message: 'No.' });
    expect(received.headers).to.deep.equal({ 'retry-after': '3' });
  });

  const wrong: readonly (readonly [string, string, string])[] = [
    ['an answer without a question', '[["result",7,1]]', 'answered a question that is not open'],
    ['a message of an unknown kind', '[["other"]]', 'sent a message of an unknown kind'],
    ['a note of an unknown name', '[["note","toString",1]]', 'sent a note of an unknown name'],
    ['a question of an unknown name', '[["call",1,"constructor",1]]', 'asked a question of an unknown name'],
    ['a message that is no list', '[1]', 'sent a message of an unknown kind'],
  ];
  for (const [name, text, message] of wrong)
    it(`ends by ${name}`, async () => {
      linkOf(sockets[0]);
      raw(text);
      while (faults.length === 0) await new Promise(setImmediate);
      expect(faults[0]?.message).to.equal(message);
    });

  it('ends by too many open questions', async () => {
    const one = linkOf(sockets[0], {}, 2);
    const all = [1, 2, 3].map((value) => one.call('never', value).catch((error: Error) => error.message));
    expect(faults[0]?.message).to.equal('left too many questions unanswered');
    one.end(new Error('over'));
    expect(await Promise.all(all)).to.deep.equal(['over', 'over', 'over']);
  });
});
