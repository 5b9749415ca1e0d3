import { expect } from 'chai';
import { callerKey } from '@gw2api/gateway/plugin';
import { fakeHost, fakeKeys, runStage } from '@gw2api/gateway/testing';
import auth from '#plugins/auth.js';

describe('auth', () => {
  const key = { id: 'k1', name: 'team', hash: '00', last4: 'wxyz', createdAtMs: 0 };
  const host = fakeHost({
    keys: fakeKeys({
      top: { kind: 'master' },
      'sk-gw-1': { kind: 'key', key },
      'sk-gw-2': { kind: 'key', key: { ...key, id: 'k2', models: ['sonnet-*'], slots: ['red-*'] } },
    }),
  });
  const run = (headers: Record<string, string>) => runStage(auth, { host, headers });

  it('names the master key', async () => {
    const { state } = await run({ authorization: 'Bearer top' });
    expect(state.caller).to.deep.equal({ kind: 'master', keyId: 'master', name: 'master' });
  });

  it('names a protocol key, with the models and slots that it may use', async () => {
    const { state } = await run({ 'x-api-key': 'sk-gw-2' });
    expect(state.caller).to.deep.equal({
      kind: 'key',
      keyId: 'k2',
      name: 'team',
      models: ['sonnet-*'],
      slots: ['red-*'],
    });
  });

  it('names a protocol key, with what it may use', async () => {
    const limited = { ...key, requestsPerMinute: 5, tokensPerDay: 100 };
    const keys = fakeKeys({ 'sk-gw-3': { kind: 'key', key: limited } });
    const { state } = await runStage(auth, {
      host: fakeHost({ keys }),
      headers: { 'x-api-key': 'sk-gw-3' },
    });
    expect(state.caller.limits).to.deep.equal({ requestsPerMinute: 5, tokensPerDay: 100 });
  });

  it('names the pipeline of a key, or else of its team', async () => {
    const team = { id: 't1', name: 'search', pipeline: 'blue' };
    const { pipeline: _, ...plainTeam } = team;
    const keys = fakeKeys({
      own: { kind: 'key', key: { ...key, pipeline: 'red' } },
      both: { kind: 'key', key: { ...key, pipeline: 'default' }, team },
      shared: { kind: 'key', key, team },
      neither: { kind: 'key', key, team: plainTeam },
      top: { kind: 'master' },
    });
    const pipelineOf = async (sent: string) => {
      const { state } = await runStage(auth, { host: fakeHost({ keys }), headers: { 'x-api-key': sent } });
      return state.caller.pipeline;
    };
    expect(await pipelineOf('own')).to.equal('red');
    expect(await pipelineOf('both')).to.equal('default');
    expect(await pipelineOf('shared')).to.equal('blue');
    for (const sent of ['neither', 'top']) expect(await pipelineOf(sent), sent).to.equal(undefined);
  });

  it('takes x-api-key where both headers are sent', async () => {
    const { state } = await run({ 'x-api-key': 'sk-gw-1', authorization: 'Bearer top' });
    expect(state.caller.keyId).to.equal('k1');
  });

  it('answers 401 missing_api_key where no key is sent', async () => {
    for (const headers of [{}, { authorization: 'Basic dG9w' }, { authorization: 'Bearer ' }]) {
      const { status, body, nextCalled } = await run(headers);
      expect(status).to.equal(401);
      expect(body).to.have.nested.property('error.code', 'missing_api_key');
      expect(body).to.have.nested.property('error.type', 'authentication_error');
      expect(nextCalled).to.equal(false);
    }
  });

  it('answers 401 invalid_api_key to a key that nobody knows', async () => {
    const { status, body } = await run({ 'x-api-key': 'sk-gw-9' });
    expect(status).to.equal(401);
    expect(body).to.have.nested.property('error.code', 'invalid_api_key');
  });

  it('reads the scheme in any case', () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect(callerKey({ authorization: `${scheme}  top ` })).to.equal('top');
  });

  it('reads api-key and x-goog-api-key where the headers of the contract hold no key', () => {
    for (const name of ['api-key', 'x-goog-api-key']) {
      expect(callerKey({ [name]: ' top ' }), name).to.equal('top');
      expect(callerKey({ [name]: 'top', authorization: 'Basic dG9w', 'x-api-key': '' }), name).to.equal(
        'top',
      );
      expect(callerKey({ [name]: 'other', authorization: 'Bearer top' }), name).to.equal('top');
      expect(callerKey({ [name]: 'other', 'x-api-key': 'top' }), name).to.equal('top');
    }
    expect(callerKey({ 'x-goog-api-key': 'other', 'api-key': 'top' })).to.equal('top');
  });

  const faults: readonly (readonly [authorization: string, sentence: RegExp])[] = [
    ['', /^No API key was sent\. /],
    ['sk-gw-1', /^The header "Authorization" contains a value without the word Bearer in front of it\. /],
    ['Bearer', /^The header "Authorization" has the word Bearer, but no key after it\. /],
    [
      'Basic c2stZ3ctMTo=',
      /^The header "Authorization" uses the scheme Basic, which is not supported here\. /,
    ],
    ['Token sk-gw-1', /^The header "Authorization" uses a scheme other than Bearer, which is not supported/],
  ];
  for (const [authorization, sentence] of faults)
    it(`says what is wrong with ${JSON.stringify(authorization)}, and quotes no key`, async () => {
      const { body } = await run({ authorization });
      const { code, message } = (body as { error: { code: string; message: string } }).error;
      expect(code).to.equal('missing_api_key');
      expect(message)
        .to.match(sentence)
        .and.include('"Authorization: Bearer <key>"')
        .and.not.match(/sk-gw-1|c2st/);
    });

  it('passes over an empty x-api-key', () => {
    expect(callerKey({ 'x-api-key': ' ', authorization: 'Bearer top' })).to.equal('top');
  });
});
