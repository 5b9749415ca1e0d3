import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { lastingHeaders } from '#src/features/websockets/handshake.js';
import { TrustedHops } from '#src/engine/http/trusted-hops.js';
import { originError } from '#src/features/websockets/handshake.js';

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
