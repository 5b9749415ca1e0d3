import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { accountHost } from '@gw2api/gateway/testing';
import { openAwsAccount } from '#plugins/accounts/aws-sigv4.js';
import type { AwsProvider } from '#plugins/accounts/shared/aws-credentials.js';
import { vendorSdk, withSdks } from '../../support/vendor-sdks.js';

interface ProviderPackage {
  readonly defaultProvider: (options: object) => AwsProvider;
}

const outgoing = {
  method: 'POST',
  origin: 'https://bedrock.example',
  path: '/',
  headers: {},
  signal: new AbortController().signal,
} as const;

describe(withSdks('the chain of AWS, by its own package'), () => {
  const sdk = vendorSdk('@aws-sdk/credential-provider-node') as ProviderPackage | undefined;
  const load = async (profile: string | undefined) =>
    sdk!.defaultProvider(profile === undefined ? {} : { profile });
  const options = { region: 'us-east-1', service: 'bedrock' };
  let environment: NodeJS.ProcessEnv;
  let folder: string;
  let container: Server | undefined;

  before(function () {
    if (!sdk) this.skip();
  });
  beforeEach(async () => {
    environment = { ...process.env };
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
    folder = await mkdtemp(path.join(tmpdir(), 'gw2api-aws-'));
    process.env['AWS_CONFIG_FILE'] = path.join(folder, 'config');
    process.env['AWS_SHARED_CREDENTIALS_FILE'] = path.join(folder, 'credentials');
  });
  afterEach(async () => {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
    Object.assign(process.env, environment);
    container?.close();
    await rm(folder, { recursive: true });
  });

  it('gives the keys of a profile', async () => {
    const file =
      '[default]\naws_access_key_id = OTHER\naws_secret_access_key = s\n\n[work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = s\n';
    await writeFile(path.join(folder, 'credentials'), file);
    const account = await openAwsAccount({ ...options, profile: 'work', chain: false }, accountHost(), load);
    expect((await account.authorize(outgoing))['authorization']).to.include('Credential=AKIDWORK/');
  });

  it('gives the keys of a container, and others once those are about to expire', async () => {
    let given = 0;
    container = createServer((_, response) => {
      given += 1;
      const keys = { AccessKeyId: `AKID${given}`, SecretAccessKey: 's', Token: `token-${given}` };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...keys, Expiration: new Date(Date.now() + 3_600_000).toISOString() }));
    }).listen(0, '127.0.0.1');
    await once(container, 'listening');
    const { port } = container.address() as AddressInfo;
    process.env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] = `http://127.0.0.1:${port}/keys`;
    let laterMs = 0;
    const host = accountHost({ now: () => Date.now() + laterMs });
    const account = await openAwsAccount({ ...options, chain: true }, host, load);
    expect(await account.authorize(outgoing)).to.include({ 'x-amz-security-token': 'token-1' });
    expect(await account.authorize(outgoing)).to.include({ 'x-amz-security-token': 'token-1' });
    laterMs = 3_400_000;
    expect(await account.authorize(outgoing)).to.include({ 'x-amz-security-token': 'token-2' });
  });

  it('is a slot that cannot be reached where it has no keys', async () => {
    process.env['AWS_EC2_METADATA_DISABLED'] = 'true';
    const account = await openAwsAccount({ ...options, chain: true }, accountHost(), load);
    const error: unknown = await Promise.resolve(account.authorize(outgoing)).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.deep.include({
      code: 'upstream_unreachable',
      failure: { kind: 'unreachable', reused: false },
    });
  });
});
