import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { accountHost } from '@gw2api/gateway/testing';
import { filledOptions } from '#src/testing/filled-options.js';
import google from '#plugins/accounts/google.js';
import { serviceAccountKey } from '../../engine/slots/service-account.js';
import { TokenEndpoint } from '../../engine/slots/token-endpoint.js';

const sdks = process.env['GW_TEST_SDKS'];
const library = path.resolve('build/node_modules/google-auth-library');

const opened = async (options: object, host = accountHost()) =>
  google.open(filledOptions(google, options), host);
const open = async (options: object) => {
  const account = await opened(options);
  await account.start?.();
  return account;
};
const failure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'nothing was thrown',
    (error: Error) => error.message,
  );

describe('the account google', () => {
  it('has one credential, which its options name', () => {
    const says = (options: object) =>
      google.check(filledOptions(google, options)).map((error: { message: string }) => error.message);
    expect(says({})).to.deep.equal(['must have one of key, keyFile, applicationDefault, and has none']);
    expect(says({ key: 'k', keyFile: 'f' })).to.deep.equal([
      'must have one of key, keyFile, applicationDefault, and has 2',
    ]);
    expect(says({ applicationDefault: true })).to.deep.equal([]);
  });

  it('does not start with a key that is none, and never says what that holds', async () => {
    const secret = 'a-secret-within';
    const keys = {
      [secret]: 'key is not the JSON of a service account',
      '{"type":"authorized_user"}':
        'key is not the key of a service account; use applicationDefault for other credentials',
      '{"type":"service_account"}': 'key lacks client_email or private_key',
      [serviceAccountKey('http://127.0.0.1:9/', { private_key: secret })]:
        'key has a private_key that is not an RSA key in PEM',
    };
    for (const [key, message] of Object.entries(keys)) expect(await failure(open({ key }))).to.equal(message);
  });

  it('reads nothing of its own in a dry run', async () => {
    const endpoint = await TokenEndpoint.open();
    const own = accountHost();
    const host = accountHost({ dry: true, connect: () => own.connect(endpoint.url) });
    for (const options of [
      { key: 'placeholder-KEY' },
      { keyFile: '/nowhere' },
      { applicationDefault: true },
    ]) {
      const account = await opened(options, host);
      const proof = await account.authorize({ signal: new AbortController().signal } as never); // no more is read
      expect(proof['authorization']).to.match(/^Bearer access-\d$/);
    }
    await endpoint.close();
  });

  it('says which package application default credentials need', async () => {
    expect(await failure(open({ applicationDefault: true }))).to.equal(
      'applicationDefault needs the package google-auth-library, which is not installed; run: npm install google-auth-library',
    );
  });

  describe(`with google-auth-library${sdks ? '' : ' (skipped: GW_TEST_SDKS names no folder with it)'}`, () => {
    let endpoint: TokenEndpoint;
    let folder: string;
    const credentials = process.env['GOOGLE_APPLICATION_CREDENTIALS'];

    before(async function () {
      if (!sdks) return this.skip();
      endpoint = await TokenEndpoint.open();
      folder = await mkdtemp(path.join(os.tmpdir(), 'gw-google-'));
      await mkdir(path.dirname(library), { recursive: true });
      await symlink(path.join(sdks, 'node_modules/google-auth-library'), library);
      return undefined;
    });
    after(async () => {
      if (credentials === undefined) delete process.env['GOOGLE_APPLICATION_CREDENTIALS'];
      else process.env['GOOGLE_APPLICATION_CREDENTIALS'] = credentials;
      if (!sdks) return;
      await rm(path.dirname(library), { recursive: true });
      await rm(folder, { recursive: true });
      await endpoint.close();
    });

    it('goes out with a token of the application default credentials', async () => {
      const subject = path.join(folder, 'subject');
      const file = path.join(folder, 'credentials.json');
      await writeFile(subject, 'token-of-the-pod');
      await writeFile(
        file,
        JSON.stringify({
          type: 'external_account',
          audience: '//iam.googleapis.com/locations/global/workforcePools/p/providers/x',
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
          token_url: endpoint.url,
          credential_source: { file: subject },
        }),
      );
      process.env['GOOGLE_APPLICATION_CREDENTIALS'] = file;
      const account = await open({ applicationDefault: true });
      const proof = await account.authorize({ signal: new AbortController().signal } as never); // no more is read
      expect(proof).to.deep.equal({ authorization: 'Bearer access-1' });
      expect(new URLSearchParams(endpoint.requests[0]).get('subject_token')).to.equal('token-of-the-pod');
      await account.authorize({ signal: new AbortController().signal } as never); // as above
      expect(endpoint.requests).to.have.length(1);
    });

    it('says what to do where there are none', async () => {
      process.env['GOOGLE_APPLICATION_CREDENTIALS'] = path.join(folder, 'nowhere.json');
      const account = await open({ applicationDefault: true });
      const signal = new AbortController().signal;
      expect(await failure(Promise.resolve(account.authorize({ signal } as never)))).to.equal(
        'Slot "test" cannot renew its access token (no application default credentials); set GOOGLE_APPLICATION_CREDENTIALS, run "gcloud auth application-default login", or give the account a keyFile.',
      );
    });
  });
});
