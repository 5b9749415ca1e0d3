import { expect } from 'chai';
import { dialects, formatNames } from '../dialects.js';
import { ask, stages, startPair, type Pair } from '../../harness.js';

describe('a gateway with GW_STRICT=1', () => {
  let pair: Pair;
  before(async () => {
    const pipeline = stages({ with: { 'persona-inject': { text: 'Be kind.' } } });
    pair = await startPair({ pipeline }, {}, undefined, { env: { GW_STRICT: '1' } });
  });
  after(() => pair.close());
  afterEach(() => {
    const mistakes = pair.logged.filter(({ level }) => level === 'error' || level === 'warn');
    expect(mistakes.map(({ msg, err }) => [msg, err])).to.deep.equal([]);
  });

  for (const format of formatNames)
    for (const stream of [false, true])
      it(`serves ${format} by its own stages, ${stream ? 'streamed' : 'whole'}`, async () => {
        const { path, request } = dialects[format];
        const response = await pair.post(path, { ...request('Hi'), stream });
        expect(await response.text()).to.not.include('"error":{');
        expect(response.status).to.equal(200);
      });

  it('serves several choices, each by a call of its own', async () => {
    const { path, request } = dialects.chat;
    const response = await pair.post(path, { ...request('Hi'), n: 3 });
    const { choices } = (await response.json()) as { choices: readonly unknown[] };
    expect(choices).to.have.length(3);
  });

  it('counts tokens', async () => {
    const { max_tokens: _, ...counted } = ask('Hi') as { max_tokens: number };
    const response = await pair.post('/v1/messages/count_tokens', counted);
    expect(await response.json()).to.have.property('input_tokens');
  });

  it('lists models', async () => {
    expect((await pair.get('/v1/models')).status).to.equal(200);
  });
});
