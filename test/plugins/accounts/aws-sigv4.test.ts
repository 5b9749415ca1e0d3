import { expect } from 'chai';
import * as fc from 'fast-check';
import type { OutgoingRequest } from '@gw2api/gateway/plugin/upstream';
import { accountHost, fakeHost, ManualClock } from '@gw2api/gateway/testing';
import awsSigv4, { openAwsAccount } from '#plugins/accounts/aws-sigv4.js';
import { loadAwsProvider, type AwsProvider } from '#plugins/accounts/shared/aws-credentials.js';
import { signed, timeOf } from '#plugins/accounts/shared/sigv4.js';
import { later } from '../../engine/transport/upstream-kit.js';
import { vendorSignature } from '../../support/aws-signer.js';
import { modelPath } from '#plugins/upstreams/bedrock/model-path.js';

const atMs = Date.UTC(2026, 10, 22, 10, 15, 0);
const keys = { accessKeyId: 'AKID', secretAccessKey: 'secret' };
const fixed = { region: 'us-east-1', service: 'bedrock', chain: false, ...keys };
const { signal } = new AbortController();

describe('a signature for AWS', () => {
  const segment = fc
    .string({ minLength: 1, maxLength: 40, unit: 'grapheme' })
    .filter((text) => !/^\.{0,2}(;|$)/.test(text));
  const query = fc.dictionary(
    fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(...Array.from('abz09-_.~')) }),
    fc.string({ maxLength: 12, unit: 'grapheme' }),
    { maxKeys: 4, noNullPrototype: true },
  );
  const headers = fc.record(
    {
      'content-type': fc.constant('application/json'),
      'anthropic-beta': fc
        .string({ minLength: 1, maxLength: 30, unit: fc.constantFrom(...Array.from('abc-,  ')) })
        .map((text) => `a${text}z`),
      'anthropic-workspace-id': fc.constant('ws_1'),
    },
    { requiredKeys: [] },
  );

  it("is that of the vendor's signer, for any path, query, headers, body and keys", async () => {
    const service = fc.constantFrom('bedrock', 'bedrock-mantle', 'aws-external-anthropic');
    const body = fc.option(fc.string({ maxLength: 200, unit: 'grapheme' }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(
        segment,
        query,
        headers,
        body,
        service,
        fc.boolean(),
        async (model, asked, sent, text, to, isTemporary) => {
          const path = `${modelPath(model)}/invoke-with-response-stream`;
          const search = Object.entries(asked)
            .map((pair) => pair.map(encodeURIComponent).join('='))
            .join('&');
          const own = isTemporary ? { ...keys, sessionToken: 'token' } : keys;
          const request = outgoing({ path: search ? `${path}?${search}` : path, headers: sent, body: text });
          const scope = { keys: own, region: 'eu-west-1', service: to };
          const same = {
            method: 'POST',
            host: 'bedrock.example',
            path,
            query: asked,
            headers: sent,
            body: text ?? '',
          };
          expect(await signed(request, { ...scope, atMs })).to.deep.equal(
            await vendorSignature(same, { ...scope, at: new Date(atMs) }),
          );
        },
      ),
    );
  });

  it('covers the bytes of the body, whatever it is held in', async () => {
    const signing = { keys, region: 'us-east-1', service: 'bedrock', atMs };
    const one = await signed(outgoing({ body: '{"é":1}' }), signing);
    expect(await signed(outgoing({ body: Buffer.from('{"é":1}') }), signing)).to.deep.equal(one);
    expect(await signed(outgoing({ body: '{"é":2}' }), signing)).to.not.deep.equal(one);
  });

  it('has a time that can be read back', () => {
    expect(timeOf('20261122T101500Z')).to.equal(atMs);
    expect(timeOf('yesterday')).to.equal(undefined);
    expect(timeOf(undefined)).to.equal(undefined);
  });
});

describe('an account of AWS', () => {
  it('has fixed keys, a profile, or the chain, and not more than one of them', () => {
    const messages = (options: object) =>
      awsSigv4
        .check({ ...fixed, accessKeyId: undefined, secretAccessKey: undefined, ...options })
        .map(({ message }: { message: string }) => message);
    expect(messages({})).to.deep.equal(['must have one of accessKeyId, profile, chain, and has none']);
    expect(messages({ chain: true })).to.deep.equal([]);
    expect(messages({ profile: 'work' })).to.deep.equal([]);
    expect(messages({ profile: 'work', chain: true })).to.deep.equal([
      'must have one of accessKeyId, profile, chain, and has 2',
    ]);
    expect(messages({ sessionToken: 't' })).to.deep.equal(['is required beside the other AWS keys']);
    expect(awsSigv4.check(fixed)).to.deep.equal([]);
  });

  it('knows an answer that refuses its keys by the name of the error', async () => {
    const account = await openAwsAccount(fixed, accountHost());
    const isRefusal = (status: number, type?: string) =>
      account.isRefusal!({ status, headers: type ? { 'x-amzn-errortype': type } : {} });
    expect(isRefusal(403, 'ExpiredTokenException:http://internal')).to.equal(true);
    expect(isRefusal(400, 'IncompleteSignature')).to.equal(true);
    expect(isRefusal(401)).to.equal(true);
    expect(isRefusal(403, 'AccessDeniedException:http://internal')).to.equal(false);
    expect(isRefusal(403)).to.equal(false);
  });

  it('signs with the time of AWS once that has refused its own, and says so once', async () => {
    const { log, logged } = fakeHost();
    const account = await openAwsAccount(fixed, accountHost({ log, now: () => atMs }));
    const first = await account.authorize(outgoing());
    const answer = { status: 403, headers: { date: new Date(atMs + 3_600_000).toUTCString() } };
    expect(await account.refresh!(first, signal, answer)).to.equal(true);
    expect(await account.refresh!(first, signal, answer)).to.equal(true); // of a request at the same time
    const second = await account.authorize(outgoing());
    expect(second['x-amz-date']).to.equal('20261122T111500Z');
    expect(await account.refresh!(second, signal, answer)).to.equal(false);
    const warnings = logged.filter(({ level }) => level === 'warn');
    expect(warnings).to.have.length(1);
    expect(warnings[0]?.message).to.include('The clock of this machine is 3600 s behind that of AWS');
  });

  it('does not try fixed keys again that were refused at the right time', async () => {
    const account = await openAwsAccount(fixed, accountHost({ now: () => atMs }));
    const refused = await account.authorize(outgoing());
    const answer = { status: 403, headers: { date: new Date(atMs + 1000).toUTCString() } };
    expect(await account.refresh!(refused, signal, answer)).to.equal(false);
    expect(await account.refresh!(refused, signal, { status: 403, headers: {} })).to.equal(false);
  });
});

describe('temporary keys of AWS', () => {
  const chain = { region: 'us-east-1', service: 'bedrock', chain: true };
  let nowMs = atMs;
  let given = 0;
  let fails = false;
  const provider: AwsProvider = async () => {
    if (fails) throw new Error('IMDS is gone');
    given += 1;
    const expiration = new Date(nowMs + 3_600_000);
    return { accessKeyId: `AKID${given}`, secretAccessKey: 's', sessionToken: `token-${given}`, expiration };
  };
  const open = (host = accountHost({ now: () => nowMs })) =>
    openAwsAccount(chain, host, async () => provider);

  beforeEach(() => {
    nowMs = atMs;
    given = 0;
    fails = false;
  });

  it('are asked for once, however many requests wait, and renewed five minutes before they expire', async () => {
    const account = await open();
    expect(given).to.equal(0);
    const all = await Promise.all(Array.from({ length: 20 }, async () => account.authorize(outgoing())));
    expect(given).to.equal(1);
    expect(new Set(all.map((each) => each['x-amz-security-token']))).to.deep.equal(new Set(['token-1']));
    nowMs += 3_300_000;
    await Promise.all([account.authorize(outgoing()), account.authorize(outgoing())]);
    expect(given).to.equal(2);
  });

  it('are asked for under the lock of the account, one instance at a time', async () => {
    const order: string[] = [];
    const withLock = async <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
      order.push('locked');
      const result = await work(new AbortController().signal);
      order.push(`gave ${given}`);
      return result;
    };
    const account = await open(accountHost({ now: () => nowMs, withLock }));
    await account.authorize(outgoing());
    expect(order).to.deep.equal(['locked', 'gave 1']);
  });

  it('are used to their end where no new ones can be had, and then the slot fails', async () => {
    const account = await open();
    await account.authorize(outgoing());
    fails = true;
    nowMs += 3_400_000;
    expect(await account.authorize(outgoing())).to.include({ 'x-amz-security-token': 'token-1' });
    nowMs += 200_000;
    const error = await Promise.resolve(account.authorize(outgoing())).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'upstream_unreachable' });
    expect((error as Error).message).to.not.include('IMDS');
  });

  it('are given up where their provider does not answer within 30 s, and asked for again', async () => {
    const clock = new ManualClock(atMs);
    const { promise: asked, resolve: onAsked } = later();
    let isSilent = true;
    const silent: AwsProvider = () => {
      onAsked();
      return isSilent ? new Promise<never>(() => undefined) : provider();
    };
    const account = await openAwsAccount(chain, accountHost({ clock }), async () => silent);
    const first = Promise.resolve(account.authorize(outgoing())).catch((thrown: unknown) => thrown);
    await asked;
    clock.pass(30_000);
    expect(await first).to.include({ code: 'upstream_unreachable' });
    isSilent = false;
    expect(await account.authorize(outgoing())).to.include({ 'x-amz-security-token': 'token-1' });
  });

  it('are renewed where AWS refuses them early', async () => {
    const account = await open();
    const refused = await account.authorize(outgoing());
    const answer = { status: 403, headers: { 'x-amzn-errortype': 'ExpiredTokenException' } };
    expect(await account.refresh!(refused, signal, answer)).to.equal(true);
    expect(await account.refresh!(refused, signal, answer)).to.equal(true);
    expect(given).to.equal(2);
  });

  it('are made up in a dry run', async () => {
    const account = await openAwsAccount(chain, accountHost({ dry: true }), () =>
      Promise.reject(new Error('asked')),
    );
    expect((await account.authorize(outgoing()))['authorization']).to.include('Credential=dry-run/');
  });

  it('need a package, whose command the error has', async function () {
    const isThere = await loadAwsProvider(undefined).then(
      () => true,
      (error: Error) => {
        expect(error.message).to.include('npm install @aws-sdk/credential-provider-node');
        return false;
      },
    );
    if (isThere) this.skip();
  });
});

/** A request as a slot asks the account to prove it. */
function outgoing(changes: Partial<OutgoingRequest> = {}): OutgoingRequest {
  return {
    method: 'POST',
    origin: 'https://bedrock.example',
    path: '/model/m/invoke',
    headers: {},
    body: '{}',
    signal: new AbortController().signal,
    ...changes,
  };
}
