import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { readSlowly } from './slow-client.js';

const request = { method: 'GET', path: '/' } as const;

describe('a slow client', () => {
  it('has its first bytes, and leaves the rest of the answer with the server', async () => {
    const responses: ServerResponse[] = [];
    const server = createServer((_, response) => {
      responses.push(response);
      response.write(Buffer.alloc(64 * 1024 * 1024));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      await readSlowly(pool, request, 1);
      expect(responses.map(({ writableNeedDrain }) => writableNeedDrain)).to.deep.equal([true]);
    } finally {
      await pool.destroy();
      server.close();
    }
  });

  it('fails where it is refused', async () => {
    const server = createServer((_, response) => response.writeHead(503).end('no'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      const error: unknown = await readSlowly(pool, request, 1).catch((cause: unknown) => cause);
      expect(String(error)).to.include('status 503');
    } finally {
      await pool.destroy();
      server.close();
    }
  });
});
