import { expect } from 'chai';
import { betaNames, sortBetas } from '#plugins/upstreams/bedrock/betas.js';
import bedrock from '#plugins/upstreams/bedrock/index.js';
import { countBody, invokeBody, invokeHeaders } from '#plugins/upstreams/bedrock/invoke-body.js';
import { baseModel, modelPath } from '#plugins/upstreams/bedrock/model-path.js';

const known = new Set(betaNames);

describe('the beta flags for Bedrock', () => {
  it('are 17, each of which it was seen to take', () => {
    expect(known.size).to.equal(17);
  });

  it('are passed on once each, by the names that Bedrock has for them; the rest is reported', () => {
    const header =
      'context-1m-2025-08-07, advanced-tool-use-2025-11-20,tool-search-tool-2025-10-19,,prompt-caching-2024-07-31, x';
    expect(sortBetas(header, known)).to.deep.equal({
      passed: ['context-1m-2025-08-07', 'tool-search-tool-2025-10-19'],
      dropped: ['anthropic-beta: prompt-caching-2024-07-31', 'anthropic-beta: x'].map((path) => ({
        path,
        kind: 'mend',
      })),
    });
  });

  it('can be added to, also those that have another name there', () => {
    const more = new Set([...known, 'x', 'advanced-tool-use-2025-11-20']);
    expect(sortBetas('x,advanced-tool-use-2025-11-20', more)).to.deep.equal({
      passed: ['x', 'advanced-tool-use-2025-11-20'],
      dropped: [],
    });
  });
});

describe('the base URL of Bedrock', () => {
  it('follows from the region, without which a slot needs its own', () => {
    expect(bedrock.baseUrl({ region: 'eu-west-1' })).to.equal(
      'https://bedrock-runtime.eu-west-1.amazonaws.com',
    );
    expect(bedrock.baseUrl({})).to.equal(undefined);
    expect(bedrock.needs).to.include('baseUrl');
  });
});

describe('the path of a model on Bedrock', () => {
  const paths = {
    'anthropic.claude-sonnet-4-6': '/model/anthropic.claude-sonnet-4-6',
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0': '/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.x':
      '/model/arn:aws:bedrock:us-east-1:123456789012:inference-profile%2Fus.anthropic.x',
    'a/../b?c#d%e f': '/model/a%2F..%2Fb%3Fc%23d%25e%20f',
    'é\ud83d\ude00\ud800': '/model/%C3%A9%F0%9F%98%80%EF%BF%BD',
  };
  for (const [model, path] of Object.entries(paths))
    it(`is ${path}`, () => expect(modelPath(model)).to.equal(path));

  for (const model of ['', '.', '..', ';x', '..;x'])
    it(`is refused for ${JSON.stringify(model)}, which leads elsewhere`, () => {
      expect(() => modelPath(model)).to.throw('has no model');
    });

  it('is that of the model itself where tokens are counted, without region and profile', () => {
    expect(baseModel('us-gov.anthropic.claude')).to.equal('anthropic.claude');
    expect(baseModel('arn:aws:bedrock:eu-west-1::inference-profile/eu.anthropic.claude')).to.equal(
      'anthropic.claude',
    );
    expect(baseModel('anthropic.claude')).to.equal('anthropic.claude');
  });
});

describe('the body of a request to Bedrock', () => {
  const request = { model: 'm', stream: true, max_tokens: 5, messages: [] };

  it('has the version, flags and profile of the headers, and neither model nor stream', () => {
    const headers = { 'anthropic-version': '2023-06-01', 'anthropic-user-profile-id': 'p' };
    expect(invokeBody(request, headers, ['b'])).to.deep.equal({
      max_tokens: 5,
      messages: [],
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['b'],
      user_profile_id: 'p',
    });
    expect(invokeHeaders({ ...headers, 'anthropic-beta': 'b', 'anthropic-other': '1' })).to.deep.equal({
      'anthropic-other': '1',
      accept: 'application/json',
    });
  });

  it('has a later version as the caller named it', () => {
    const body = invokeBody(request, { 'anthropic-version': '2026-10-21' }, []);
    expect(body).to.deep.equal({ max_tokens: 5, messages: [], anthropic_version: '2026-10-21' });
  });

  it('keeps what the caller has put there', () => {
    const own = { anthropic_version: 'v', anthropic_beta: ['x'], user_profile_id: 'q' };
    const body = invokeBody({ ...request, ...own }, { 'anthropic-user-profile-id': 'p' }, ['b']);
    expect(body).to.deep.equal({ max_tokens: 5, messages: [], ...own });
  });

  it('is base64 where tokens are counted, with the least limit that its thinking allows', () => {
    const { max_tokens: _, ...open } = request;
    expect(counted(open)).to.include({ max_tokens: 1 });
    expect(counted({ ...open, thinking: { type: 'enabled', budget_tokens: 2048 } })).to.include({
      max_tokens: 2049,
    });
    expect(counted(request)).to.include({ max_tokens: 5 });
  });
});

function counted(request: object): object {
  const { input } = countBody(request, {}, []) as { input: { invokeModel: { body: string } } };
  return JSON.parse(Buffer.from(input.invokeModel.body, 'base64').toString()) as object;
}
