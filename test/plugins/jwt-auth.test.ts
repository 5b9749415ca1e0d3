import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect } from 'chai';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';
import { fakeHost, fakeKeys, runStage, serveStage } from '@gw2api/gateway/testing';
import jwtAuth from '#plugins/jwt-auth.js';
import { makeCertificate } from '../whole/certificates.js';
import { TempFolders } from '../whole/temp-folders.js';

describe('jwt-auth', () => {
  const host = fakeHost({ keys: fakeKeys({ top: { kind: 'master' } }) });
  const nowSeconds = host.now() / 1000;
  const folders = new TempFolders();
  let signing: CryptoKey;
  let jwks: string;
  let file: string;
  before(async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    signing = privateKey;
    jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }] });
    file = path.join(await folders.make({ 'jwks.json': jwks }), 'jwks.json');
  });
  after(() => folders.remove());

  const valid = { iss: 'https://issuer.example', aud: 'gw2api', sub: 'ann', exp: nowSeconds + 60 };
  const signed = (payload: JWTPayload, key: CryptoKey | Uint8Array = signing, alg = 'ES256', kid = 'k1') =>
    new SignJWT(payload).setProtectedHeader({ alg, kid }).sign(key);
  const run = (token: string, options: object = {}) =>
    runStage(jwtAuth, {
      host,
      options: { jwks: file, issuer: valid.iss, audience: valid.aud, ...options },
      headers: { authorization: `Bearer ${token}` },
    });

  it('names the caller of a token, with all claims', async () => {
    const { state, nextCalled } = await run(await signed({ ...valid, department: 'red' }));
    const claims = { ...valid, department: 'red' };
    expect(state.caller).to.deep.equal({ kind: 'key', keyId: 'jwt:ann', name: 'ann', claims });
    expect(nextCalled).to.equal(true);
    expect(state.trace.tags).to.equal(undefined);
  });

  it('takes name, models, limits and tags from claims', async () => {
    const claims = {
      ...valid,
      email: 'ann@example.com',
      may: 'sonnet-* haiku-5',
      daily: 100,
      department: 'red',
    };
    const options = {
      name: 'email',
      models: 'may',
      limits: { tokensPerDay: 'daily', maxConcurrent: 'none' },
      tags: { team: 'department', left: 'out' },
    };
    const { state } = await run(await signed(claims), options);
    expect(state.caller).to.deep.include({
      keyId: 'jwt:ann@example.com',
      models: ['sonnet-*', 'haiku-5'],
      limits: { tokensPerDay: 100 },
    });
    expect(state.trace.tags).to.deep.equal({ team: 'red' });
  });

  it('takes tags from numbers, booleans and lists too, and none from objects', async () => {
    const claims = { unit: 7, intern: false, groups: ['a', 'b', { c: 1 }, 3], office: { city: 'x' } };
    const tags = { unit: 'unit', intern: 'intern', groups: 'groups', office: 'office' };
    const { state } = await run(await signed({ ...valid, ...claims }), { tags });
    expect(state.trace.tags).to.deep.equal({ unit: '7', intern: 'false', groups: 'a,b,3' });
  });

  it('takes budgets from claims, which need not be whole', async () => {
    const limits = { usdPerDay: 'budget', tokensPerDay: 'daily' };
    const { state } = await run(await signed({ ...valid, budget: 0.5, daily: 0 }), { limits });
    expect(state.caller.limits).to.deep.equal({ usdPerDay: 0.5, tokensPerDay: 0 });
  });

  it('tells callers with long names apart', async () => {
    const sub = 'x'.repeat(254);
    const first = await run(await signed({ ...valid, sub: `${sub}1` }));
    const second = await run(await signed({ ...valid, sub: `${sub}2` }));
    expect([first.state.caller.keyId, second.state.caller.keyId]).to.deep.equal([
      `jwt:${sub}1`,
      `jwt:${sub}2`,
    ]);
  });

  it('lets a token without a claim of models use none', async () => {
    const { state } = await run(await signed(valid), { models: 'may' });
    expect(state.caller.models).to.deep.equal([]);
  });

  it('knows the master key still', async () => {
    expect((await run('top')).state.caller.kind).to.equal('master');
    expect((await run('unknown')).error).to.include({ code: 'invalid_api_key' });
  });

  for (const [what, change, says] of [
    ['has expired', { exp: nowSeconds - 10 }, '"exp" claim timestamp check failed'],
    ['does not end', { exp: undefined as unknown as number }, 'missing required "exp" claim'],
    ['is of another issuer', { iss: 'https://evil.example' }, 'unexpected "iss" claim value'],
    ['is for another audience', { aud: 'another' }, 'unexpected "aud" claim value'],
    ['is not valid yet', { nbf: nowSeconds + 60 }, '"nbf" claim timestamp check failed'],
    ['names no caller', { sub: 7 as unknown as string }, 'its claim "sub" (name) must be a text'],
    [
      'has a name that would have to be cut',
      { sub: 'x'.repeat(256) },
      'must be a text of 1 to 255 characters',
    ],
    ['has a limit that is no number', { daily: 'many' }, 'its claim "daily" (limits.tokensPerDay)'],
    ['has a limit below 0', { daily: -5 }, 'must be a whole number, 0 or more.'],
    ['has a limit that is not whole', { daily: 0.5 }, 'must be a whole number, 0 or more.'],
    ['is too long', { padding: 'x'.repeat(9000) }, 'too long'],
  ] as const)
    it(`refuses a token that ${what}`, async () => {
      const { error, nextCalled } = await run(await signed({ ...valid, ...change }), {
        limits: { tokensPerDay: 'daily' },
      });
      expect(error).to.include({ code: 'invalid_api_key', status: 401 });
      expect((error as Error).message).to.include(says);
      expect(nextCalled).to.equal(false);
    });

  it('refuses what another key has signed, a shared secret, and no signature', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(valid)).toString('base64url')}.x`;
    for (const token of [
      await signed(valid, privateKey),
      await signed(valid, new TextEncoder().encode(jwks.padEnd(32)), 'HS256'),
      unsigned,
    ])
      expect((await run(token)).error).to.include({ code: 'invalid_api_key' });
  });

  describe('with the keys at a URL', () => {
    let issuer: Server;
    let url: string;
    let asked = 0;
    let status = 200;
    let padding = 0;
    beforeEach(async () => {
      [asked, status, padding] = [0, 200, 0];
      issuer = createServer((_, response) => {
        asked += 1;
        response.writeHead(status, { 'content-type': 'application/json' }).end(jwks + ' '.repeat(padding));
      }).listen(0, '127.0.0.1');
      await once(issuer, 'listening');
      url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/jwks.json`;
    });
    afterEach(() => void issuer.close());

    it('reads them with the first token', async () => {
      expect((await run('top', { jwks: url })).state.caller.kind).to.equal('master');
      expect(asked).to.equal(0);
      expect((await run(await signed(valid), { jwks: url })).state.caller.name).to.equal('ann');
      expect(asked).to.equal(1);
    });

    it('reads them by the certificate of its options, whose files it names where they are wrong', async () => {
      const folder = await folders.make({ 'text.pem': 'no certificate' });
      await makeCertificate(folder, 'own', 'issuer.example');
      const [cert, key] = await Promise.all(
        ['crt', 'key'].map((end) => readFile(path.join(folder, `own.${end}`))),
      );
      const secure = createSecureServer({ cert, key }, (_, response) => void response.end(jwks));
      secure.listen(0, '127.0.0.1');
      await once(secure, 'listening');
      const secureUrl = `https://127.0.0.1:${(secure.address() as AddressInfo).port}/jwks.json`;
      const tls = { ca: path.join(folder, 'own.crt'), servername: 'issuer.example' };
      expect((await run(await signed(valid), { jwks: secureUrl })).error).to.include({ status: 503 });
      expect((await run(await signed(valid), { jwks: secureUrl, tls })).state.caller.name).to.equal('ann');
      secure.closeAllConnections();
      secure.close();
      for (const [files, message] of [
        [{ ca: '/nowhere.pem' }, 'with.tls.ca cannot be read (ENOENT): /nowhere.pem'],
        [{ ca: path.join(folder, 'text.pem') }, 'with.tls.ca contains no PEM certificate'],
        [{ cert: tls.ca }, 'with.tls has no key: a certificate needs its key, and a key its certificate'],
      ] as const) {
        const failure = await run('top', { jwks: url, tls: files }).then(() => 'none', String);
        expect(failure).to.include(message);
      }
    });

    it('reads no more than 1 MB of them', async () => {
      padding = 2 ** 19;
      expect((await run(await signed(valid), { jwks: url })).state.caller.name).to.equal('ann');
      padding = 2 ** 20;
      expect((await run(await signed(valid), { jwks: url })).error).to.include({ status: 503 });
    });

    describe('that goes down', () => {
      let nowMs = 0;
      let later: ReturnType<typeof fakeHost>;
      beforeEach(async () => {
        nowMs = host.now();
        later = fakeHost({ now: () => nowMs });
      });

      /** Stage that is asked again and again, with the time in seconds since the first token. */
      async function staying(options: object = {}) {
        const stage = await serveStage(jwtAuth, {
          host: later,
          options: { jwks: url, issuer: valid.iss, audience: valid.aud, ...options },
        });
        const lasting = await signed({ ...valid, exp: nowSeconds + 1e6 });
        const statusAt = async (seconds: number, token = lasting) => {
          nowMs = host.now() + seconds * 1000;
          const headers = { authorization: `Bearer ${token}` };
          return (await fetch(stage.origin, { headers })).status;
        };
        return { statusAt, close: () => stage.close() };
      }

      it('keeps its last keys for maxStale, with a warning, and takes the new ones once it is back', async () => {
        const { statusAt, close } = await staying({ maxStale: '2h' });
        expect(await statusAt(0)).to.equal(204);
        status = 500;
        expect(await statusAt(601)).to.equal(204);
        expect(later.logged.map(({ level, message }) => [level, message])).to.deep.equal([
          ['warn', 'The keys of the token issuer cannot be read; the last ones stay in use.'],
        ]);
        expect(await statusAt(7199)).to.equal(204);
        expect(await statusAt(7201), 'after maxStale').to.equal(503);
        status = 200;
        expect(await statusAt(7232)).to.equal(204);
        await close();
      });

      it('is not asked for each token', async () => {
        const { statusAt, close } = await staying();
        await statusAt(0);
        status = 500;
        for (const seconds of [700, 701, 720, 729]) await statusAt(seconds);
        expect(asked).to.equal(2);
        await statusAt(731);
        expect(asked).to.equal(3);
        await close();
      });

      it('is 503 for a token whose key may be a new one, and 401 where the issuer knows of none', async () => {
        const { statusAt, close } = await staying();
        const unknown = await signed({ ...valid, exp: nowSeconds + 1e6 }, signing, 'ES256', 'k2');
        await statusAt(0);
        expect(await statusAt(31, unknown)).to.equal(401);
        status = 500;
        expect(await statusAt(62, unknown)).to.equal(503);
        await close();
      });
    });

    it('does not start with a URL that has a password', async () => {
      const jwks = url.replace('//', '//user:secret@');
      const failure = await run('top', { jwks }).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(String(failure)).to.include('remove them from the URL').and.not.include('secret');
    });

    it('is 503 while they cannot be read', async () => {
      status = 500;
      expect((await run(await signed(valid), { jwks: url })).error).to.include({ status: 503 });
      issuer.close();
      issuer.closeAllConnections();
      expect((await run(await signed(valid), { jwks: url })).error).to.include({ status: 503 });
    });
  });
});
