import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { ask, configOf, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { TempFolders } from '../../temp-folders.js';

describe('a relative path in options', () => {
  const folders = new TempFolders();
  let simulator: Simulator;
  let under: GatewayUnderTest | undefined;
  before(async () => void (simulator = await startSimulator()));
  after(() => simulator.close());
  afterEach(async () => {
    await under?.close();
    under = undefined;
    await folders.remove();
  });

  /** Starts a gateway with files beside its config, in a folder that is not the working directory; returns that. */
  async function start(pipeline: readonly object[], files: Readonly<Record<string, string>> = {}) {
    const config = configOf({ slots: [slotAt(simulator.url)], pipeline });
    const folder = await folders.make({ ...files, 'gateway.yaml': config });
    under = await startGateway(`${folder}/gateway.yaml`, {}, Date.now, { secretKey: 'a key of tests' });
    return { folder, under };
  }

  it('is one beside the config: module of guard', async () => {
    const rule = `export default (text, from) => {
      const start = text.indexOf('Secret', from);
      return start < 0 ? undefined : { start, end: start + 6 };
    };`;
    const guard = { use: 'guard', with: { module: './rules/rule.mjs', request: true, action: 'mask' } };
    const { under } = await start(stages().toSpliced(3, 0, guard), { 'rules/rule.mjs': rule });
    const answer = await under.post('/v1/messages', ask('Secret.'));
    expect(await answer.text())
      .to.include('Removed by a rule')
      .and.not.include('Secret');
  });

  it('is one beside the config: folder of record', async () => {
    const record = { use: 'record', with: { folder: './recorded' } };
    const { folder, under: recording } = await start(stages().toSpliced(2, 0, record));
    await (await recording.post('/v1/messages', ask('Hi'))).text();
    await recording.close(); // once all is written
    under = undefined;
    expect(await readdir(path.join(folder, 'recorded'))).to.have.length(1);
  });

  it('is one beside the config: keys of jwt-auth', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }] });
    const auth = { use: 'jwt-auth', with: { jwks: 'jwks.json', issuer: 'https://i.example', audience: 'a' } };
    const { under } = await start([auth, ...stages().slice(1)], { 'jwks.json': keys });
    const token = await new SignJWT({ sub: 'ann' })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setIssuer('https://i.example')
      .setAudience('a')
      .setExpirationTime('1m')
      .sign(privateKey);
    const answer = await under.post('/v1/messages', ask('Hi'), { 'x-api-key': token });
    expect(answer.status).to.equal(200);
  });

  it('is one beside the config: a file that an account is given', async () => {
    const account = `import { readFile } from 'node:fs/promises';
    export default {
      name: 'key-file',
      options: { type: 'object', properties: { file: { type: 'string' } } },
      open: ({ file }, host) => ({
        authorize: async () => ({ 'x-api-key': await readFile(host.resolvePath(file), 'utf8') }),
      }),
    };`;
    const slots = [slotAt(simulator.url, { account: { kind: './key-file.mjs', file: 'keys/one.txt' } })];
    const config = configOf({ slots });
    const folder = await folders.make({
      'key-file.mjs': account,
      'keys/one.txt': 'key-of-the-file',
      'gateway.yaml': config,
    });
    under = await startGateway(`${folder}/gateway.yaml`);
    expect((await under.post('/v1/messages', ask('Hi'))).status).to.equal(200);
    expect(simulator.requests.at(-1)!.headers['x-api-key']).to.equal('key-of-the-file');
  });
});
