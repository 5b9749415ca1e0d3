import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { jwtVerify } from 'jose';
import type { SlotConfig } from '#src/config/config.js';
import { calm, openInstances, slowly } from '../instances.js';
import {
  leaseRequest,
  openPool,
  refusal,
  rejection,
  slotCall,
  slotConfig,
  stateOf,
  type Kit,
} from '../kit.js';
import { serviceAccountKey, servicePublicKey } from '../service-account.js';
import { TokenEndpoint } from '../token-endpoint.js';

const scope = 'https://www.googleapis.com/auth/cloud-platform';

/** Kinds of account that are granted tokens, with the options of one at an endpoint. */
const kinds: Readonly<Record<string, (endpoint: TokenEndpoint) => object>> = {
  google: ({ url }) => ({ key: serviceAccountKey(url), scope }),
  'azure-entra': ({ url }) => ({
    tenant: 'contoso.example',
    clientId: 'client',
    clientSecret: 'p&q',
    scope: 'https://ai.azure.com/.default',
    authority: `${new URL(url).origin}/`,
  }),
};

for (const [kind, optionsAt] of Object.entries(kinds))
  describe(`a slot whose account is of the kind ${kind}`, () => {
    let endpoint: TokenEndpoint;
    beforeEach(async () => {
      endpoint = await TokenEndpoint.open();
    });
    afterEach(() => endpoint.close());

    const slots = (changes: object = {}): readonly SlotConfig[] => [
      slotConfig('o', { account: { kind, ...optionsAt(endpoint), ...changes }, maxConcurrent: 50 }),
    ];

    it('goes out with a token that is granted once for however many requests wait', async () => {
      const kit = await openPool(slots());
      await Promise.all(Array.from({ length: 20 }, () => generate(kit)));
      expect(new Set(bearers(kit))).to.deep.equal(new Set(['Bearer access-1']));
      expect(endpoint.requests).to.have.length(1);
      expect([...endpoint.contentTypes]).to.deep.equal(['application/x-www-form-urlencoded']);
    });

    it('gets a new token a minute before the old one expires', async () => {
      const kit = await openPool(slots());
      await generate(kit);
      kit.clock.pass(3_539_000);
      await generate(kit);
      kit.clock.pass(1000);
      await generate(kit);
      expect(bearers(kit)).to.deep.equal(['Bearer access-1', 'Bearer access-1', 'Bearer access-2']);
    });

    it('goes on with the token of the store after a restart, and not with that of other options', async () => {
      const first = await openPool(slots());
      await generate(first);
      await first.pool.close();
      const { clock, store } = first;
      const second = await openPool(slots(), { clock, store });
      await generate(second);
      expect(bearers(second)).to.deep.equal(['Bearer access-1']);
      const third = await openPool(slots({ scope: 'another' }), { clock, store });
      await generate(third);
      expect(bearers(third)).to.deep.equal(['Bearer access-2']);
    });

    it('gets a new token after a 401, and sends the call once more', async () => {
      const kit = await openPool(slots());
      const upstream = kit.upstream('o');
      const { generate: generateAnyway } = upstream;
      upstream.generate = async (call) => {
        const reply = await generateAnyway(call);
        if (call.credential['authorization'] !== 'Bearer access-2') throw refusal(401);
        return reply;
      };
      await generate(kit);
      expect(bearers(kit)).to.deep.equal(['Bearer access-1', 'Bearer access-2']);
    });

    it('is rejected where the endpoint refuses, in words that say what to do and no secret', async () => {
      endpoint.answer = { status: 400, body: { error: 'invalid_scope', error_codes: [70_011] } };
      const kit = await openPool(slots());
      const lease = await kit.pool.lease(leaseRequest());
      const error = await rejection(lease.slot.generate(slotCall()));
      expect(error).to.include({ code: 'no_slot_available', status: 503 });
      expect(error.message).to.match(
        /^Slot "o" cannot renew its access token \(invalid_scope\); check its scope/,
      );
      await lease.another(error);
      expect(stateOf(kit, 'o')).to.include({ state: 'rejected' });
    });

    it('is unreachable where the endpoint fails', async () => {
      endpoint.answer = { status: 503, body: {} };
      const kit = await openPool(slots());
      const lease = await kit.pool.lease(leaseRequest());
      await lease.another(await rejection(lease.slot.generate(slotCall())));
      expect(stateOf(kit, 'o')).to.include({ state: 'cooling', reason: 'unreachable' });
    });

    it('is granted one token for all instances', async () => {
      const { kits, clock } = await openInstances(slots(), { count: 3, connect: slowly });
      for (let hour = 1; hour <= 2; hour += 1) {
        await Promise.all([...kits, ...kits].map(generate));
        await calm();
        expect(endpoint.requests).to.have.length(hour);
        expect(kits.map((kit) => bearers(kit).at(-1))).to.deep.equal(kits.map(() => `Bearer access-${hour}`));
        clock.pass(3_600_000);
      }
    });

    it('reports no usage windows, so counts are those of its upstream', async () => {
      const kit = await openPool(slots());
      expect(kit.pool.get('o')!.reportsWindows).to.equal(false);
      expect(kit.pool.account()).to.equal(undefined);
    });
  });

describe('the token request', () => {
  let endpoint: TokenEndpoint;
  let folder: string;
  beforeEach(async () => {
    endpoint = await TokenEndpoint.open();
    folder = await mkdtemp(path.join(os.tmpdir(), 'gw-tokens-'));
  });
  afterEach(async () => {
    await endpoint.close();
    await rm(folder, { recursive: true });
  });

  const open = (account: SlotConfig['account'] & object) => openPool([slotConfig('o', { account })]);
  const formAt = (at: number) => Object.fromEntries(new URLSearchParams(endpoint.requests[at]));

  it('of a service account is an assertion that its key has signed', async () => {
    const kit = await open({
      kind: 'google',
      key: serviceAccountKey(endpoint.url),
      scope,
      quotaProject: 'bill-me',
    });
    await generate(kit);
    expect(kit.upstream('o').calls[0]!.credential).to.deep.equal({
      authorization: 'Bearer access-1',
      'x-goog-user-project': 'bill-me',
    });
    const { grant_type: type, assertion = '' } = formAt(0);
    expect(type).to.equal('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const { payload, protectedHeader } = await jwtVerify(assertion, servicePublicKey, {
      audience: endpoint.url,
      issuer: 'gateway@test-project.iam.example',
      currentDate: new Date(kit.clock.now()),
    });
    expect(protectedHeader).to.deep.equal({ alg: 'RS256', typ: 'JWT', kid: 'key-1' });
    expect(payload).to.include({ scope });
    expect(payload.exp! - payload.iat!).to.equal(3600);
  });

  it('reads a key file anew each time', async () => {
    const keyFile = path.join(folder, 'key.json');
    const kit = await open({ kind: 'google', keyFile, scope });
    const missing = await rejection(generate(kit));
    expect(missing.message).to.include('keyFile ENOENT').and.not.include(folder);
    await writeFile(keyFile, '{"type":"authorized_user"}');
    expect((await rejection(generate(kit))).message).to.include(
      'keyFile is not the key of a service account',
    );
    await writeFile(keyFile, serviceAccountKey(endpoint.url));
    await generate(kit);
    expect(bearers(kit)).to.deep.equal(['Bearer access-1']);
  });

  it('of a service principal has its secret, and goes to the endpoint of its tenant', async () => {
    await generate(await open({ kind: 'azure-entra', ...kinds['azure-entra']!(endpoint) }));
    expect(formAt(0)).to.deep.equal({
      grant_type: 'client_credentials',
      client_id: 'client',
      scope: 'https://ai.azure.com/.default',
      client_secret: 'p&q',
    });
    expect([...endpoint.paths]).to.deep.equal(['/contoso.example/oauth2/v2.0/token']);
  });

  it('of a federated identity has the token of its file, as it is then', async () => {
    const tokenFile = path.join(folder, 'token');
    await writeFile(tokenFile, 'token-of-the-pod\n');
    const { clientSecret: _, ...options } = kinds['azure-entra']!(endpoint) as Record<string, string>;
    await generate(await open({ kind: 'azure-entra', ...options, tokenFile }));
    expect(formAt(0)).to.deep.include({
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: 'token-of-the-pod',
    });
  });
});

async function generate({ pool }: Kit): Promise<void> {
  const lease = await pool.lease(leaseRequest());
  try {
    await lease.slot.generate(slotCall());
  } finally {
    lease.release();
  }
}

function bearers(kit: Kit): readonly (string | undefined)[] {
  return kit.upstream('o').calls.map(({ credential }) => credential['authorization']);
}
