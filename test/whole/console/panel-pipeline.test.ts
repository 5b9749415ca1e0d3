import { expect } from 'chai';
import { ask, slotAt, stages, startPair, type Pair } from '../harness.js';
import { PanelClient, type Answer } from './panel-client.js';
import { TempFolders } from '../temp-folders.js';

const plugin = `export default {
  name: 'mine',
  options: {
    type: 'object',
    additionalProperties: true,
    required: ['address'],
    properties: {
      address: { type: 'string', title: 'Address', description: 'Where it goes.' },
      key: { type: 'string', secret: true },
      token: { type: 'string', secret: true },
      mode: { enum: ['a', 'b'], default: 'a' },
      limits: {
        type: 'object',
        default: {},
        properties: { each: { type: 'integer', default: 3 }, all: { type: 'integer', default: 9 } },
      },
    },
  },
  setup: ({ address }) => (ctx, next) => {
    if (ctx.get('x-break') !== '') throw new Error('broken');
    return next();
  },
};
`;

describe('the pipeline in the panel', () => {
  const folders = new TempFolders();
  let pair: Pair;
  let data: readonly Answer[];
  before(async () => {
    const folder = await folders.make({ 'mine.js': plugin });
    const options = { address: '${TARGET}', key: 'SECRET-1', limits: { each: 3, all: 4 }, extra: 'SECRET-2' };
    const pipeline = [
      { use: `${folder}/mine.js`, with: options },
      ...stages({ with: { 'body-limit': { limit: '1mb' } } }),
      { use: 'usage-mask', name: 'off', enabled: false, with: { hidden: 'SECRET-3' } },
    ];
    pair = await startPair({ pipeline }, {}, (url) => [slotAt(url)], { env: { TARGET: 'SECRET-4' } });
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    await (await pair.post('/v1/messages', ask('Hi'), { 'x-break': '1' })).text();
    ({ data } = await new PanelClient(pair.url).get('/pipeline'));
  });
  after(async () => {
    await pair.close();
    await folders.remove();
  });

  const stage = (name: string): Answer => data.find((each) => each.name === name);

  it('has the options of each stage in the words of its schema', () => {
    const own = { required: false, secret: false, changed: false, title: null, description: null };
    expect(stage('mine').fields).to.deep.equal([
      {
        ...own,
        path: 'address',
        type: 'string',
        title: 'Address',
        description: 'Where it goes.',
        default: null,
        value: '${TARGET}',
        required: true,
        changed: true,
      },
      { ...own, path: 'key', type: 'string', default: null, value: null, secret: true, changed: true },
      { ...own, path: 'token', type: 'string', default: null, value: null, secret: true },
      { ...own, path: 'mode', type: '"a" | "b"', default: 'a', value: 'a' },
      { ...own, path: 'limits.each', type: 'integer', default: 3, value: 3 },
      { ...own, path: 'limits.all', type: 'integer', default: 9, value: 4, changed: true },
      { ...own, path: 'extra', type: 'any', default: null, value: null, secret: true, changed: true },
    ]);
    expect(stage('off').fields[0]).to.deep.include({ path: 'hidden', value: null, secret: true });
    expect(JSON.stringify(data)).not.to.include('SECRET');
  });

  it('describes those of built-ins as the reference config does', () => {
    const [limit] = stage('body-limit').fields;
    expect(limit).to.deep.include({ path: 'limit', default: '128mb', value: '1mb', changed: true });
    expect(limit.description).to.match(/largest body/);
  });

  it('has the time of each stage, its faults and its skips', () => {
    expect(stage('mine').times).to.deep.include({ count: 2, faults: 1, skips: 0 });
    const { count, p50_ms: p50, p95_ms: p95 } = stage('auth').times;
    expect(count).to.equal(1);
    expect(p95).to.be.at.least(p50);
    expect(stage('off').times).to.deep.equal({ count: 0, p50_ms: null, p95_ms: null, faults: 0, skips: 0 });
  });
});
