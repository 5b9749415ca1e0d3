import { expect } from 'chai';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import type { SlotConfig } from '#src/config/config.js';
import {
  leaseRequest,
  openPool,
  refusal,
  rejection,
  slotCall,
  slotConfig,
  stateOf,
  type FakeUpstream,
  type Kit,
} from '../kit.js';
import { TokenEndpoint } from '../token-endpoint.js';

describe('an OAuth slot', () => {
  let endpoint: TokenEndpoint;

  beforeEach(async () => {
    endpoint = await TokenEndpoint.open();
  });

  afterEach(() => endpoint.close());

  it('goes out with its access token as a bearer', async () => {
    const kit = await openPool([oauthSlot(endpoint.url)]);
    await generate(kit);
    expect(bearers(kit)).to.deep.equal(['Bearer access-0']);
    expect(endpoint.requests).to.deep.equal([]);
  });

  it('refreshes a token a minute before it expires, and goes out with the new one', async () => {
    const kit = await openPool([oauthSlot(endpoint.url, { lastsMs: 61_000 })]);
    await generate(kit);
    kit.clock.pass(1000);
    await generate(kit);
    expect(bearers(kit)).to.deep.equal(['Bearer access-0', 'Bearer access-1']);
    expect(endpoint.requests).to.deep.equal([
      'grant_type=refresh_token&refresh_token=refresh-0&client_id=client',
    ]);
    expect([...endpoint.contentTypes]).to.deep.equal(['application/x-www-form-urlencoded']);
  });

  it('sends a client secret where it has one', async () => {
    const kit = await openPool([oauthSlot(endpoint.url, { lastsMs: 0, clientSecret: 'p&q' })]);
    await generate(kit);
    expect(endpoint.requests[0]).to.match(/&client_secret=p%26q$/);
  });

  it('refreshes once for however many requests wait', async () => {
    const kit = await openPool([oauthSlot(endpoint.url, { lastsMs: 0 })]);
    await Promise.all(Array.from({ length: 20 }, () => generate(kit)));
    expect(endpoint.requests).to.have.length(1);
    expect(new Set(bearers(kit))).to.deep.equal(new Set(['Bearer access-1']));
  });

  it('keeps the rotated token in the store, goes on with it after a restart, and uses it for the next refresh', async () => {
    const slots = [oauthSlot(endpoint.url, { lastsMs: 0 })];
    const first = await openPool(slots);
    await generate(first);
    await first.pool.close();
    const second = await openPool(slots, { clock: first.clock, store: first.store });
    await generate(second);
    expect(bearers(second)).to.deep.equal(['Bearer access-1']);
    second.clock.pass(3_600_000);
    await generate(second);
    expect(endpoint.requests[1]).to.include('refresh_token=refresh-1');
  });

  it('starts over with a new refresh token in the config', async () => {
    const first = await openPool([oauthSlot(endpoint.url, { lastsMs: 0 })]);
    await generate(first);
    const { clock, store } = first;
    const second = await openPool([oauthSlot(endpoint.url, { refreshToken: 'signed-in-again' })], {
      clock,
      store,
    });
    await generate(second);
    expect(bearers(second)).to.deep.equal(['Bearer access-0']);
  });

  it('refreshes once on a 401 and sends the call once more', async () => {
    const kit = await openPool([oauthSlot(endpoint.url)]);
    acceptOnly(kit.upstream('o'), 'Bearer access-1');
    await generate(kit);
    await (await kit.pool.lease(leaseRequest())).slot.countTokens(slotCall());
    expect(bearers(kit)).to.deep.equal(['Bearer access-0', 'Bearer access-1', 'Bearer access-1']);
    expect(endpoint.requests).to.have.length(1);
  });

  it('refreshes once where many calls are refused together', async () => {
    const kit = await openPool([oauthSlot(endpoint.url, {}, { maxConcurrent: 50 })]);
    acceptOnly(kit.upstream('o'), 'Bearer access-1');
    await Promise.all(Array.from({ length: 20 }, () => generate(kit)));
    expect(endpoint.requests).to.have.length(1);
  });

  it('is rejected where the new token is refused as well', async () => {
    const kit = await openPool([oauthSlot(endpoint.url)]);
    acceptOnly(kit.upstream('o'), 'Bearer nobody');
    const lease = await kit.pool.lease(leaseRequest());
    const error = await rejection(lease.slot.generate(slotCall()));
    expect(kit.upstream('o').calls).to.have.length(2);
    expect(await lease.another(error)).to.equal(undefined);
    expect(stateOf(kit, 'o')).to.include({ state: 'rejected' });
  });

  it('renews a token that no header can hold, as one that was refused', async () => {
    const kit = await openPool([oauthSlot(endpoint.url, { accessToken: 'a\nb' })]);
    await generate(kit);
    expect(bearers(kit)).to.deep.equal(['Bearer access-1']);
  });

  it('is rejected where its refresh token is refused, in words that say what to do and no secret', async () => {
    endpoint.answer = { status: 400, body: { error: 'invalid_grant' } };
    const kit = await openPool([oauthSlot(endpoint.url, { lastsMs: 0 })]);
    const lease = await kit.pool.lease(leaseRequest());
    const error = await rejection(lease.slot.generate(slotCall()));
    expect(error).to.include({ code: 'no_slot_available', status: 503 });
    expect(error.message).to.equal(
      'Slot "o" cannot renew its access token (invalid_grant); sign its account in again and put the new tokens into the config.',
    );
    await lease.another(error);
    expect(stateOf(kit, 'o')).to.include({ state: 'rejected' });
  });

  it('counts as unreachable where its token endpoint fails or talks nonsense', async () => {
    const nonsense = 'upstream_invalid_response';
    const answers = [
      { code: 'upstream_unreachable', answer: { status: 500, body: { error: 'later' } } },
      { code: nonsense, answer: { status: 200, body: 'no json' } },
      { code: nonsense, answer: { status: 200, body: {} } },
      { code: nonsense, answer: { status: 200, body: { access_token: 'a\u0000b' } } },
      { code: nonsense, answer: { status: 200, body: 'x'.repeat(1024 * 1024) } },
    ];
    for (const { code, answer } of answers) {
      endpoint.answer = answer;
      const kit = await openPool([oauthSlot(endpoint.url, { lastsMs: 0 })]);
      const lease = await kit.pool.lease(leaseRequest());
      const error = await rejection(lease.slot.generate(slotCall()));
      expect(error).to.include({ code });
      expect(kit.upstream('o').calls).to.deep.equal([]);
      await lease.another(error);
      expect(stateOf(kit, 'o')).to.include({ state: 'cooling', reason: 'unreachable' });
    }
  });

  it('counts as unreachable where its token endpoint is not there', async () => {
    const { url } = endpoint;
    await endpoint.close();
    const kit = await openPool([oauthSlot(url, { lastsMs: 0 })]);
    const error = await rejection(generate(kit));
    expect(error.failure).to.deep.equal({ kind: 'unreachable', reused: false });
  });

  it('goes on with the old token while that lasts, and does not ask a failing endpoint for every request', async () => {
    endpoint.answer = { status: 503, body: {} };
    const kit = await openPool([oauthSlot(endpoint.url, { lastsMs: 50_000 })]);
    await generate(kit);
    await generate(kit);
    expect(bearers(kit)).to.deep.equal(['Bearer access-0', 'Bearer access-0']);
    expect(endpoint.requests).to.have.length(1);
    endpoint.answer = undefined;
    kit.clock.pass(10_000);
    await generate(kit);
    expect(bearers(kit).at(-1)).to.equal('Bearer access-2');
  });

  it('lets a caller leave during a refresh, which goes on', async () => {
    const kit = await openPool([oauthSlot(endpoint.url, { lastsMs: 0 })]);
    const release = endpoint.hold();
    const caller = new AbortController();
    const { slot } = await kit.pool.lease(leaseRequest());
    const call = rejection(slot.generate(slotCall({ signal: caller.signal })));
    await endpoint.asked();
    caller.abort(new Error('gone'));
    expect((await call).message).to.equal('gone');
    release();
    await slot.generate(slotCall());
    expect(bearers(kit)).to.deep.equal(['Bearer access-1']);
    expect(endpoint.requests).to.have.length(1);
  });

  it("refreshes over the slot's own way out", async () => {
    const proxy = await openProxy();
    const kit = await openPool([oauthSlot(endpoint.url, { lastsMs: 0 }, { proxy: proxy.url })]);
    await generate(kit);
    expect(proxy.tunnels).to.deep.equal([`${new URL(endpoint.url).host} ${basic('user:p@ss')}`]);
    await proxy.close();
  });

  it('keeps its tokens through a reload that opens another upstream', async () => {
    const kit = await openPool([oauthSlot(endpoint.url, { lastsMs: 0 })]);
    await generate(kit);
    await kit.pool.reload([oauthSlot(endpoint.url, { lastsMs: 0 }, { headers: { 'x-extra': '1' } })]);
    await generate(kit);
    expect(bearers(kit)).to.deep.equal(['Bearer access-1']);
    expect(endpoint.requests).to.have.length(1);
  });
});

describe('an API-key slot', () => {
  it('sends its key in the header that the config names', async () => {
    const account = { kind: 'api-key', key: 'k' } as const;
    const kit = await openPool([
      slotConfig('a', { account: { ...account, header: 'x-api-key' } }),
      slotConfig('b', { account: { ...account, header: 'authorization' } }),
      slotConfig('c', { account: { kind: 'none' } }),
    ]);
    for (const id of ['a', 'b', 'c']) await kit.pool.get(id)?.generate(slotCall());
    expect(['a', 'b', 'c'].map((id) => kit.upstream(id).calls[0]?.credential)).to.deep.equal([
      { 'x-api-key': 'k' },
      { authorization: 'Bearer k' },
      {},
    ]);
    expect(kit.pool.list().map(({ accountKind }) => accountKind)).to.deep.equal([
      'api-key',
      'api-key',
      'none',
    ]);
  });

  it('that holds what no header can is left alone for another slot, and says what is wrong', async () => {
    const account = { kind: 'api-key', key: 'se\ncret', header: 'x-api-key' } as const;
    const kit = await openPool([slotConfig('a', { account }), slotConfig('b')]);
    const lease = await kit.pool.lease(leaseRequest());
    expect(lease.slot.id).to.equal('a');
    const error = await rejection(lease.slot.generate(slotCall()));
    expect(error).to.include({ code: 'no_slot_available', status: 503 });
    const next = await lease.another(error);
    expect(next?.slot.id).to.equal('b');
    expect(kit.upstream('a').calls).to.deep.equal([]);
    expect(stateOf(kit, 'a')).to.include({ state: 'rejected' });
    const { lastError } = kit.pool.list()[0]!;
    expect(lastError)
      .to.match(/^Slot "a" has a credential with a line end .* enter it again\.$/)
      .and.not.include('cret');
  });

  it('passes a 401 on at once: it has no other key', async () => {
    const kit = await openPool([slotConfig('a')]);
    acceptOnly(kit.upstream('a'), 'nobody');
    await rejection(kit.pool.get('a')!.generate(slotCall()));
    expect(kit.upstream('a').calls).to.have.length(1);
  });
});

interface Terms {
  readonly lastsMs?: number;
  readonly accessToken?: string;
  readonly refreshToken?: string;
  readonly clientSecret?: string;
}

function oauthSlot(tokenUrl: string, terms: Terms = {}, changes: Partial<SlotConfig> = {}): SlotConfig {
  const { lastsMs, ...rest } = terms;
  const expiry = lastsMs === undefined ? {} : { expiresAt: Date.UTC(2026, 0, 1) + lastsMs };
  const tokens = { accessToken: 'access-0', refreshToken: 'refresh-0', ...rest, ...expiry };
  return slotConfig('o', {
    account: { kind: 'oauth', tokenUrl, clientId: 'client', ...tokens },
    maxConcurrent: 50,
    ...changes,
  });
}

async function generate({ pool }: Kit): Promise<void> {
  const lease = await pool.lease(leaseRequest());
  await lease.slot.generate(slotCall());
  lease.release();
}

function bearers(kit: Kit): readonly (string | undefined)[] {
  return kit.upstream('o').calls.map(({ credential }) => credential['authorization']);
}

function acceptOnly(upstream: FakeUpstream, authorization: string): void {
  const { generate: generateAnyway } = upstream;
  upstream.generate = async (call) => {
    const reply = await generateAnyway(call);
    if (call.credential['authorization'] !== authorization) throw refusal(401);
    return reply;
  };
}

function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

/** A proxy that tunnels, and notes where to and with which credential. */
async function openProxy(): Promise<{ url: string; tunnels: string[]; close: () => Promise<void> }> {
  const tunnels: string[] = [];
  const server = createServer();
  server.on('connect', (request, client, head) => {
    tunnels.push(`${request.url} ${request.headers['proxy-authorization']}`);
    const target = new URL(`http://${request.url}`);
    const upstream = connect(Number(target.port), target.hostname, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  const close = async (): Promise<void> => {
    server.close();
    await once(server, 'close');
  };
  return { url: `http://user:p%40ss@127.0.0.1:${port}`, tunnels, close };
}
