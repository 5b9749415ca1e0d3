import path from 'node:path';
import { expect } from 'chai';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import { eventually } from '../../../eventually.js';
import {
  ask,
  configOf,
  masterKey,
  slotAt,
  stages,
  startGateway,
  startPair,
  type GatewayUnderTest,
  type Pair,
} from '../../harness.js';
import { errorIn, issueKey, lastCall } from '../../kit.js';
import { PanelClient } from '../../console/panel-client.js';
import { TempFolders } from '../../temp-folders.js';
import { check } from '#src/cli/check.js';

const token = { issuer: 'https://issuer.example', audience: 'gw2api' };

/** Files of an issuer of tokens, and a function that signs one. */
async function newIssuer(folders: TempFolders) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }];
  const folder = await folders.make({ 'jwks.json': { keys } });
  return { jwks: path.join(folder, 'jwks.json'), sign: (name: string) => signed(name, privateKey) };
}

function signed(name: string, key: CryptoKey): Promise<string> {
  const claims = { iss: token.issuer, aud: token.audience, exp: Math.floor(Date.now() / 1000) + 600 };
  return new SignJWT({ ...claims, sub: name }).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(key);
}

/** The default pipeline, in which callers of these patterns get a persona. */
function personaFor(caller: string | readonly string[], auth: object = { use: 'auth' }): readonly object[] {
  const persona = { use: 'persona-inject', when: { caller }, with: { text: 'Chosen.' } };
  return stages().map((entry) => {
    const { use } = entry as { use: string };
    return use === 'auth' ? auth : use === 'persona-inject' ? persona : entry;
  });
}

describe('when: { caller }', () => {
  const folders = new TempFolders();
  let issuer: Awaited<ReturnType<typeof newIssuer>>;
  let pair: Pair | undefined;
  before(async () => {
    issuer = await newIssuer(folders);
  });
  afterEach(async () => {
    await pair?.close();
    pair = undefined;
  });
  after(() => folders.remove());

  const jwtAuth = () => ({ use: 'jwt-auth', with: { jwks: issuer.jwks, ...token } });

  /** Those of these callers whom the patterns match. */
  async function matched(
    patterns: string | readonly string[],
    callers: Readonly<Record<string, () => string | Promise<string>>>,
    auth: object = jwtAuth(),
  ): Promise<readonly string[]> {
    pair = await startPair({ pipeline: personaFor(patterns, auth) });
    const names: string[] = [];
    for (const [name, key] of Object.entries(callers)) {
      const answer = await pair.post('/v1/messages', ask('Hi'), { authorization: `Bearer ${await key()}` });
      expect(answer.status, name).to.equal(200);
      if (JSON.stringify(lastCall(pair.simulator)).includes('Chosen.')) names.push(name);
    }
    await pair.close();
    pair = undefined;
    return names;
  }

  const jwt = (name: string) => () => issuer.sign(name);
  const key = (name: string, id: string) => () => issueKey(pair!, name, { id });

  it('takes the name of a token for nobody else', async () => {
    const callers = {
      'the master key': () => masterKey,
      'the key of a team': key('team-a', 'key_1'),
      'a token named master': jwt('master'),
      'a token named anonymous': jwt('anonymous'),
      'a token named as a team': jwt('team-x'),
      'a token named as an admin': jwt('eve-admin'),
      'a token named as an id': jwt('key_1'),
    };
    expect(await matched('master', callers)).to.deep.equal(['the master key']);
    expect(await matched(['team-*', 'anonymous', '*-admin'], callers)).to.deep.equal(['the key of a team']);
    expect(await matched('key_1', callers)).to.deep.equal(['the key of a team']);
    expect(await matched('**', callers)).to.deep.equal(['the master key', 'the key of a team']);
    expect(await matched(['jwt:master', 'jwt:*-admin'], callers)).to.deep.equal([
      'a token named master',
      'a token named as an admin',
    ]);
    expect(await matched('*', callers)).to.deep.equal(Object.keys(callers));
  });

  it('takes a key with the name of the master key, or of nobody, for neither', async () => {
    const callers = {
      'the master key': () => masterKey,
      'a key named master': key('master', 'key_1'),
      'a key named anonymous': key('anonymous', 'key_2'),
      'a key with a colon': key('jwt:ann', 'key_3'),
    };
    expect(await matched(['master', 'anonymous', 'jwt:*'], callers)).to.deep.equal(['the master key']);
    expect(await matched('key_*', callers)).to.deep.equal(Object.keys(callers).slice(1));
  });

  it('matches callers without a key by their name', async () => {
    const auth = { use: 'auth', with: { anonymous: 'everyone' } };
    pair = await startPair({ pipeline: personaFor('anonymous', auth) });
    const answer = await fetch(`${pair.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ask('Hi')),
    });
    expect(answer.status).to.equal(200);
    expect(JSON.stringify(lastCall(pair.simulator))).to.include('Chosen.');
  });

  it('is warned of by check where no token can match it', async () => {
    const found = async (caller: string | readonly string[], auth: object = jwtAuth()) => {
      const config = configOf({ pipeline: personaFor(caller, auth), slots: [slotAt('http://127.0.0.1:9')] });
      const folder = await folders.make({ 'gateway.yaml': config });
      const { text } = await check(`${folder}/gateway.yaml`, {}, false);
      return text.split('\n').filter((line) => line.includes('when.caller'));
    };
    const [warning, ...others] = await found(['team-*', 'master']);
    expect(warning).to.match(
      /gateway.yaml:1:\d+ pipeline\[4\]\.when\.caller\[0\]: "team-\*" matches no token of jwt-auth.*"jwt:team-\*"/,
    );
    expect(others).to.deep.equal([]);
    for (const patterns of ['*', 'master', ['team-*', 'jwt:team-*']])
      expect(await found(patterns)).to.deep.equal([]);
    const [nobody] = await found('jwt:*', { use: 'auth' });
    expect(nobody).to.match(/matches nobody: .*auth/);
  });
});

describe('names of callers', () => {
  const folders = new TempFolders();
  let under: GatewayUnderTest | undefined;
  afterEach(async () => {
    await under?.close();
    under = undefined;
  });
  after(() => folders.remove());

  const slots = [{ id: 'a', upstream: 'simulator' }];

  it('of the master key and of nobody are refused for keys', async () => {
    under = await startGateway({ slots });
    const panel = new PanelClient(under.url);
    const { id } = await panel.ask('POST', '/keys', { name: 'laptop' });
    for (const name of ['master', 'anonymous'])
      for (const response of [
        await panel.fetch('POST', '/keys', { name }),
        await panel.fetch('PATCH', `/keys/${id}`, { name }),
      ]) {
        const error = await errorIn(response);
        expect(error).to.include({ status: 400, code: 'invalid_request' });
        expect(error.message).to.match(new RegExp(`^name: "${name}" .*another name`));
      }
  });

  it('that patterns may mean otherwise are warned of, at the start and by a reload', async () => {
    const folder = await folders.make();
    const patterns = ['team-*', 'ci', 'gone', 'old', 'a:b', '*', 'key_3'];
    const config = { slots, store: `sqlite:${folder}/gateway.db`, pipeline: personaFor(patterns) };
    under = await startGateway({ ...config, pipeline: stages() });
    const nowMs = Date.now();
    await issueKey(under, 'master', { id: 'key_1' });
    await issueKey(under, 'team-a', { id: 'key_2' });
    await issueKey(under, 'ci', { id: 'key_3' });
    await under.gateway.services.store.keys.put({
      id: 'key_4',
      name: 'ci',
      hash: 'h4',
      last4: '',
      createdAtMs: 1,
    });
    await issueKey(under, 'old', { id: 'key_5', revokedAtMs: nowMs });
    await issueKey(under, 'gone', { id: 'key_6', expiresAtMs: nowMs - 1 });
    await issueKey(under, 'a:b', { id: 'key_7' });
    await under.close();

    under = await startGateway(config);
    const expected = [
      /^config:\d+:\d+ pipeline\[4\]\.when\.caller\[2\]: "gone" matches no valid key.*issue/,
      /pipeline\[4\]\.when\.caller\[3\]: "old" matches no valid key/,
      /pipeline\[4\]\.when\.caller\[4\]: "a:b" does not match the key of this name.*"key_7"/,
      /pipeline\[4\]\.when\.caller\[4\]: "a:b" matches nobody/,
      /^Some keys have names that belong .*: "master" \(key_1\)\./,
      /^Several keys have the same name: "ci" \(key_[34], key_[34]\)\./,
    ];
    const warnings = () =>
      under!.logged
        .filter(({ level, msg }) => level === 'warn' && /caller|name/.test(String(msg)))
        .map(({ msg }) => String(msg));
    await eventually(() => warnings().length >= expected.length);
    const first = warnings();
    expect(first).to.have.length(expected.length);
    for (const line of expected)
      expect(
        first.filter((text) => line.test(text)),
        String(line),
      ).to.have.length(1);
    await under.gateway.reload();
    await eventually(() => warnings().length >= 2 * expected.length);
    expect(warnings().slice(expected.length)).to.have.members(first);
  });

  it('are not warned of where all are what they say', async () => {
    under = await startGateway({ slots, pipeline: personaFor(['master', 'anonymous', '*']) });
    await issueKey(under, 'ci', { id: 'key_1' });
    await under.gateway.reload();
    const said = under.logged.filter(({ level, msg }) => level === 'warn' && /caller|key/.test(String(msg)));
    expect(said).to.deep.equal([]);
  });
});
