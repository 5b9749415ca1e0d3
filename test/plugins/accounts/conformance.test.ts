import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import { accountChecks, type AccountSubject } from '@gw2api/gateway/testing';
import apiKey from '#plugins/accounts/api-key.js';
import awsSigv4 from '#plugins/accounts/aws-sigv4.js';
import azureEntra from '#plugins/accounts/azure-entra.js';
import bearer from '#plugins/accounts/bearer.js';
import google from '#plugins/accounts/google.js';
import none from '#plugins/accounts/none.js';
import oauth from '#plugins/accounts/oauth.js';
import { serviceAccountKey } from '../../engine/slots/service-account.js';
import { TokenEndpoint } from '../../engine/slots/token-endpoint.js';

const endpoints: TokenEndpoint[] = [];

async function openEndpoint(): Promise<string> {
  const endpoint = await TokenEndpoint.open();
  endpoints.push(endpoint);
  return endpoint.url;
}

async function oauthOptions(): Promise<object> {
  const tokenUrl = await openEndpoint();
  return { accessToken: 'access-0', refreshToken: 'refresh-0', tokenUrl, clientId: 'c' };
}

async function googleOptions(): Promise<object> {
  return { key: serviceAccountKey(await openEndpoint()) };
}

async function entraOptions(): Promise<object> {
  const authority = new URL(await openEndpoint()).origin;
  return { tenant: 'contoso.example', clientId: 'c', clientSecret: 'a-client-secret', authority };
}

const subjects: readonly AccountSubject[] = [
  { kind: none },
  { kind: apiKey, options: { key: 'sk-test-0123456789' } },
  {
    kind: awsSigv4,
    options: { region: 'us-east-1', accessKeyId: 'AKID-0123456789', secretAccessKey: 's3cret-0123456789' },
  },
  { kind: bearer, options: { token: 'token-0123456789' } },
  { kind: oauth, options: oauthOptions },
  { kind: google, options: googleOptions },
  { kind: azureEntra, options: entraOptions },
];

for (const subject of subjects)
  describe(`the account ${subject.kind.name}`, () => {
    afterEach(async () => {
      for (const endpoint of endpoints.splice(0)) await endpoint.close();
    });
    for (const { name, run } of accountChecks(subject)) it(name, run);
  });

describe('the built-in accounts', () => {
  it('are all in their conformance suite', async () => {
    const files = (await readdir('plugins/accounts')).filter((file) => file.endsWith('.ts'));
    const names = files.map((file) => file.slice(0, -3));
    expect(subjects.map(({ kind }) => kind.name).toSorted()).to.deep.equal(names.toSorted());
  });
});
