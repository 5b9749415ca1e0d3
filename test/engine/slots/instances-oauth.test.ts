import { expect } from 'chai';
import type { SlotConfig } from '#src/config/config.js';
import { calm, openInstances, slowly, type Instances } from './instances.js';
import { leaseRequest, refusal, rejection, slotCall, slotConfig, stateOf, type Kit } from './kit.js';
import { TokenEndpoint } from './token-endpoint.js';

describe('an OAuth slot of several instances', () => {
  let endpoint: TokenEndpoint;

  beforeEach(async () => {
    endpoint = await TokenEndpoint.open();
  });

  afterEach(() => endpoint.close());

  const open = (slots: readonly SlotConfig[], count = 3): Promise<Instances> =>
    openInstances(slots, { count, connect: slowly });

  it('renews its token once, when it is due in all of them', async () => {
    const { kits, clock } = await open([oauthSlot(endpoint.url, { lastsMs: 0 })]);
    for (let hour = 1; hour <= 3; hour += 1) {
      await Promise.all([...kits, ...kits].map(generate));
      await calm();
      expect(endpoint.requests).to.have.length(hour);
      expect(kits.map(lastBearer)).to.deep.equal(kits.map(() => `Bearer access-${hour}`));
      clock.pass(3_600_000);
    }
    const used = endpoint.requests.map((body) => new URLSearchParams(body).get('refresh_token'));
    expect(used).to.deep.equal(['refresh-0', 'refresh-1', 'refresh-2']);
  });

  it('renews its token once, when the old one is refused in all of them at the same time', async () => {
    const { kits } = await open([oauthSlot(endpoint.url)]);
    for (const kit of kits) acceptOnly(kit, 'Bearer access-1');
    await Promise.all([...kits, ...kits].map(generate));
    expect(endpoint.requests).to.have.length(1);
  });

  it('goes out with the token that another instance has got, once that is said', async () => {
    const { kits } = await open([oauthSlot(endpoint.url)]);
    const [one, two] = kits as [Kit, Kit];
    acceptOnly(one, 'Bearer access-1');
    await generate(one);
    await calm();
    await generate(two);
    expect(two.upstream('o').calls.map(({ credential }) => credential['authorization'])).to.deep.equal([
      'Bearer access-1',
    ]);
  });

  it('never uses a refresh token that another instance has used, though the store did not take what it got', async () => {
    const { kits, store, clock } = await open([oauthSlot(endpoint.url, { lastsMs: 0 })], 2);
    const [one, two] = kits as [Kit, Kit];
    const put = store.credentials.put.bind(store.credentials);
    store.credentials.put = () => Promise.reject(new Error('the store is away'));
    await generate(one);
    const error = await rejection(generate(two));
    expect(error).to.include({ code: 'no_slot_available' });
    expect(error.message).to.match(
      /^Slot "o" is waiting for the access token that another instance has renewed/,
    );
    expect(stateOf(two, 'o')).to.include({ state: 'ready' });
    store.credentials.put = put;
    clock.pass(5000);
    await generate(one);
    await calm();
    await generate(two);
    expect(lastBearer(two)).to.equal('Bearer access-1');
    expect(endpoint.requests).to.have.length(1);
  });

  it('may try a refresh token again that the endpoint did not take', async () => {
    const { kits } = await open([oauthSlot(endpoint.url, { lastsMs: 0 })], 2);
    const [one, two] = kits as [Kit, Kit];
    endpoint.answer = { status: 503, body: {} };
    await rejection(generate(one));
    endpoint.answer = undefined;
    await generate(two);
    expect(endpoint.requests).to.have.length(2);
  });

  it('with an old config does not overwrite the tokens of an account that was signed in again', async () => {
    const { kits, store, join } = await open([oauthSlot(endpoint.url, { lastsMs: 0 })], 1);
    const old = kits[0]!;
    const renewed = await join({}, [oauthSlot(endpoint.url, { lastsMs: 0, refreshToken: 'again' })]);
    await generate(renewed);
    await generate(old);
    expect(endpoint.requests).to.have.length(2);
    expect(await store.credentials.get('o')).to.include({ accessToken: 'access-1' });
  });
});

interface Terms {
  readonly lastsMs?: number;
  readonly refreshToken?: string;
}

function oauthSlot(tokenUrl: string, { lastsMs, ...rest }: Terms = {}): SlotConfig {
  const expiry = lastsMs === undefined ? {} : { expiresAt: Date.UTC(2026, 0, 1) + lastsMs };
  const tokens = { accessToken: 'access-0', refreshToken: 'refresh-0', ...rest, ...expiry };
  return slotConfig('o', {
    account: { kind: 'oauth', tokenUrl, clientId: 'client', ...tokens },
    maxConcurrent: 50,
  });
}

async function generate({ pool }: Kit): Promise<void> {
  const lease = await pool.lease(leaseRequest());
  try {
    await lease.slot.generate(slotCall());
  } finally {
    lease.release();
  }
}

function lastBearer(kit: Kit): string | undefined {
  return kit.upstream('o').calls.at(-1)?.credential['authorization'];
}

function acceptOnly(kit: Kit, authorization: string): void {
  const upstream = kit.upstream('o');
  const { generate: generateAnyway } = upstream;
  upstream.generate = async (call) => {
    const reply = await generateAnyway(call);
    if (call.credential['authorization'] !== authorization) throw refusal(401);
    return reply;
  };
}
