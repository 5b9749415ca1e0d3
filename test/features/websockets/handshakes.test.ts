import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isGatewayError } from '@gw2api/gateway/plugin';
import { systemClock } from '#src/kit/time/clock.js';
import { TrustedHops } from '#src/engine/http/trusted-hops.js';
import { lastingHeaders, originError, shakeHands } from '#src/features/websockets/handshake.js';
import { OpenSockets, SocketConnection } from '#src/features/websockets/open-sockets.js';

describe('the headers of a handshake', () => {
  it('go with each message, but for those of one connection or one body', () => {
    const lasting = {
      host: 'gateway',
      authorization: 'Bearer k',
      'user-agent': 'a-cli',
      'x-session-id': 's',
      'x-forwarded-for': '10.0.0.1',
    };
    const passing = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'AAAA',
      'content-length': '0',
      'accept-encoding': 'gzip',
      'x-request-id': 'mine',
      'x-gw-delivery': 'verified',
    };
    expect(lastingHeaders({ ...lasting, ...passing })).to.deep.equal(lasting);
  });
});

describe('a handshake', () => {
  it('is refused by a GatewayError where the answer that refuses it is cut off', async () => {
    const route = {
      accept: (socket: Duplex) =>
        void socket.once('data', () => {
          socket.write('HTTP/1.1 401 Unauthorized\r\ncontent-length: 100\r\n\r\npart');
          setImmediate(() => socket.destroy());
        }),
      peer: new Socket(),
      connection: new SocketConnection(new OpenSockets(1)),
    };
    const failure: unknown = await shakeHands({ path: '/v1/responses', headers: {} }, route, {
      clock: systemClock,
      handshakeTimeoutMs: 10_000,
    }).catch((error: unknown) => error);
    expect(isGatewayError(failure) && failure.code).to.equal('request_timeout');
  });
});

describe('the origin of a handshake', () => {
  const errorOf = (headers: IncomingMessage['headers'], rules = {}) =>
    originError({ headers, socket: { remoteAddress: '10.0.0.1' } } as IncomingMessage, {
      origins: [],
      hops: undefined,
      ...rules,
    })?.code;
  const page = { host: 'gateway:8787', origin: 'https://chat.example' };

  it('is the gateway itself, or one of the config, or absent', () => {
    expect(errorOf({ host: 'gateway:8787' })).to.equal(undefined);
    expect(errorOf({ host: 'gateway:8787', origin: 'http://gateway:8787' })).to.equal(undefined);
    expect(errorOf(page)).to.equal('forbidden');
    expect(errorOf({ ...page, origin: 'null' })).to.equal('forbidden');
    expect(errorOf(page, { origins: ['https://chat.example'] })).to.equal(undefined);
    expect(errorOf(page, { origins: ['*'] })).to.equal(undefined);
  });

  it('may be the name that a trusted proxy was called by', () => {
    const headers = { ...page, 'x-forwarded-host': 'chat.example' };
    for (const trust of [1, ['10.0.0.0/8']])
      expect(errorOf(headers, { hops: new TrustedHops(trust) })).to.equal(undefined);
    expect(errorOf(headers, { hops: new TrustedHops(['192.0.2.0/24']) })).to.equal('forbidden');
    expect(errorOf(headers)).to.equal('forbidden');
  });
});
