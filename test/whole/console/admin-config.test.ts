import { expect } from 'chai';
import { configOf, stages, startGateway, type GatewayUnderTest } from '../harness.js';
import { TempFolders, writeIn } from '../temp-folders.js';

const plugin = `export default {
  name: 'notify',
  requires: ['caller'],
  options: {
    type: 'object',
    additionalProperties: true,
    properties: {
      address: {},
      limit: {},
      password: { secret: true },
      nested: { items: { properties: { apiKey: { secret: true } } } },
      tokens: { items: { secret: true } },
    },
  },
  setup: () => (ctx, next) => next(),
};
`;

/** Each has a mark that must not be found in the answer. */
const secrets = {
  live: {
    url: 'redis://:SECRET-17@servers',
    sentinel: { name: 'mymaster', nodes: ['127.0.0.1:9'], password: 'SECRET-18' },
  },
  telemetry: { otlp: 'http://user:SECRET-15@127.0.0.1:9', headers: { authorization: 'SECRET-16' } },
  pipeline: [
    ...stages(),
    {
      use: './notify.js',
      with: {
        address: '${HOOK}',
        password: 'SECRET-1',
        nested: [{ apiKey: 'SECRET-2' }],
        tokens: ['SECRET-3'],
        unknown: { key: 'SECRET-13' },
        limit: '${LIMIT:-10}',
      },
      when: { caller: 'team-*' },
    },
    { use: 'usage-mask', enabled: false, with: { text: 'SECRET-14' } },
  ],
  pipelines: [
    {
      name: 'red',
      changes: [
        {
          before: 'slot-pick',
          add: [
            {
              use: './notify.js',
              name: 'own',
              with: { address: '${HOOK}', password: 'SECRET-19', limit: 7 },
            },
            { use: './notify.js', name: 'changed', with: { password: 'SECRET-25', limit: 8 } },
          ],
        },
        {
          set: './notify.js',
          with: { password: 'SECRET-20', nested: [{ apiKey: 'SECRET-21' }], address: 'shown' },
        },
        {
          replace: 'max-tokens',
          by: { oneOf: [{ use: './notify.js', name: 'one', with: { tokens: ['SECRET-22'] } }] },
        },
        { set: 'changed', with: { unknown: { key: 'SECRET-23' } } },
        { after: 'own', add: [{ use: './notify.js', name: 'gone', with: { password: 'SECRET-24' } }] },
        { remove: 'gone' },
      ],
    },
  ],
  slots: [
    {
      id: 'a',
      upstream: 'messages',
      baseUrl: 'https://user:SECRET-4@upstream.example',
      account: { kind: 'api-key', key: 'SECRET-5' },
      proxy: 'http://user:SECRET-6@egress.example:3128',
      headers: { 'x-extra': 'SECRET-7' },
    },
    {
      id: 'b',
      upstream: 'messages',
      baseUrl: 'https://upstream.example',
      account: {
        kind: 'oauth',
        accessToken: '${ACCESS}',
        refreshToken: 'SECRET-8',
        tokenUrl: 'https://auth.example/token',
        clientId: 'gateway',
        clientSecret: 'SECRET-9',
      },
    },
  ],
};

describe('what an operator is shown', () => {
  const folders = new TempFolders();
  let under: GatewayUnderTest;
  before(async () => {
    const folder = await folders.make({ 'notify.js': plugin });
    await writeIn(folder, 'gateway.yaml', configOf(secrets));
    under = await startGateway(`${folder}/gateway.yaml`, {
      HOOK: 'SECRET-10',
      ACCESS: 'SECRET-11',
      LIMIT: 'SECRET-12',
    });
  });
  after(async () => {
    await under.close();
    await folders.remove();
  });

  it('of the config is what the file says, without its secrets and with nothing of the environment', async () => {
    const answer = await under.get('/admin/config');
    expect(answer.status).to.equal(200);
    const text = await answer.text();
    expect(text).not.to.include('SECRET');
    const { pipeline, pipelines, slots, listen, live, telemetry } = JSON.parse(text) as Record<
      string,
      unknown[]
    >;
    expect(live).to.deep.equal({
      url: 'redis://***@servers',
      sentinel: { name: 'mymaster', nodes: ['127.0.0.1:9'], password: '***' },
    });
    expect(telemetry).to.deep.equal({
      otlp: 'http://***@127.0.0.1:9',
      headers: { authorization: '***' },
    });
    expect(listen).to.deep.equal({ host: '127.0.0.1', port: 0 });
    expect(pipeline!.slice(0, 2)).to.deep.equal([{ use: 'auth' }, { use: 'body-limit' }]);
    expect(pipeline!.at(-2)).to.deep.equal({
      use: './notify.js',
      with: {
        address: '${HOOK}',
        password: '***',
        nested: [{ apiKey: '***' }],
        tokens: ['***'],
        unknown: '***',
        limit: '${LIMIT:-10}',
      },
      when: { caller: 'team-*' },
    });
    const [red] = pipelines as { changes: { add?: { with: object }[]; with?: object }[] }[];
    expect(red!.changes[0]!.add![0]!.with).to.deep.equal({ address: '${HOOK}', password: '***', limit: 7 });
    expect(red!.changes[1]!.with).to.deep.equal({
      password: '***',
      nested: [{ apiKey: '***' }],
      address: 'shown',
    });
    expect(slots).to.deep.equal([
      {
        id: 'a',
        upstream: 'messages',
        baseUrl: 'https://***@upstream.example',
        account: { kind: 'api-key', key: '***' },
        proxy: 'http://***@egress.example:3128',
        headers: { 'x-extra': '***' },
      },
      {
        id: 'b',
        upstream: 'messages',
        baseUrl: 'https://upstream.example',
        account: {
          kind: 'oauth',
          accessToken: '***',
          refreshToken: '***',
          tokenUrl: 'https://auth.example/token',
          clientId: 'gateway',
          clientSecret: '***',
        },
      },
    ]);
  });

  it('of the pipeline is each stage as it runs, with what it needs and gives', async () => {
    const answer = await under.get('/admin/pipeline');
    const { object, data } = (await answer.json()) as { object: string; data: Record<string, unknown>[] };
    expect(object).to.equal('list');
    expect(data.map(({ name }) => name)).to.deep.equal([
      ...stages().map((stage) => (stage as { use: string }).use),
      'notify',
      'usage-mask',
    ]);
    expect(data.find(({ name }) => name === 'slot-pick')).to.deep.include({
      use: 'slot-pick',
      enabled: true,
      requires: ['request', 'caller', 'body'],
      provides: ['picker'],
      operations: ['generate', 'count-tokens'],
    });
    expect(data.at(-2)).to.deep.include({ name: 'notify', use: './notify.js', when: { caller: ['team-*'] } });
    expect(data.at(-1)).to.deep.include({ use: 'usage-mask', enabled: false });
    expect(JSON.stringify(data)).not.to.include('SECRET');
  });

  for (const path of ['/admin/config', '/admin/pipeline', '/admin/slots'])
    it(`at ${path} is only for the master key`, async () => {
      expect((await fetch(under.url + path)).status).to.equal(401);
      expect((await under.get(path, { 'x-api-key': 'sk-gw-unknown' })).status).to.equal(401);
    });
});
