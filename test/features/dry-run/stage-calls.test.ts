import path from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { openGateway } from '#src/features/open.js';
import { DryGateway } from '#src/features/dry-run/dry-gateway.js';
import { isModelCall, type DryOutcome } from '#src/features/dry-run/outcome.js';
import { loadGatewayConfig } from '#src/gateway/load-config.js';
import { configOf, stages } from '../../whole/harness.js';
import { TempFolders } from '../../whole/temp-folders.js';

/** Mirrors each request to the slot of its own call: before that, and once it has been answered. */
const mirror = `
const copy = (request, content) => ({ ...request, stream: false, messages: [{ role: 'user', content }] });
export default { name: 'mirror', requires: ['request', 'caller'], setup: (_, host) => async (ctx, next) => {
  const ask = (content) =>
    host.call(copy(ctx.state.request, content), { ctx, label: 'mirror', slots: ['a'] }).then(() => 200, (error) => error.status);
  const statuses = [await ask('before')];
  await next();
  statuses.push(await ask('behind'));
  ctx.set('x-statuses', statuses.join());
} };
`;

describe('calls of stages in a dry run', () => {
  const folders = new TempFolders();
  const open: DryGateway[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((dry) => dry.close()));
    await folders.remove();
  });

  const request = {
    path: '/v1/messages',
    body: { model: 'sonnet-5', max_tokens: 64, messages: [{ role: 'user', content: 'own' }] },
  };

  async function outcomeOf(upstream: string, scenarios: readonly string[]): Promise<DryOutcome> {
    const baseDir = await folders.make({ 'mirror.mjs': mirror });
    const account = { kind: 'api-key', key: 'secret' };
    const settings = configOf({
      slots: [{ id: 'a', upstream, baseUrl: 'https://a.example', account }],
      pipeline: stages().flatMap((entry) =>
        'use' in entry && entry.use === 'slot-pick' ? [{ use: './mirror.mjs' }, entry] : [entry],
      ),
    });
    const input = { text: stringify(settings), file: path.join(baseDir, 'gateway.yaml'), env: {}, baseDir };
    const dry = await DryGateway.open(await loadGatewayConfig(input), openGateway, {
      slots: { a: scenarios },
    });
    open.push(dry);
    const [only] = await dry.send([request]);
    return only!;
  }

  const sentTo = ({ outgoing }: DryOutcome) =>
    outgoing
      .filter(isModelCall)
      .map(({ label, body }) => [label, JSON.stringify(body).match(/before|own|behind/)?.[0]]);

  for (const upstream of ['messages', 'chat'])
    it(`are told by their labels from the request's own to the same slot: ${upstream}`, async () => {
      const one = await outcomeOf(upstream, ['400 label=mirror', 'say text=Hello']);
      expect(one).to.include({ status: 200, text: 'Hello', attempts: 1 });
      expect(one.headers).to.include({ 'x-statuses': '400,400' });
      expect(sentTo(one)).to.deep.equal([
        ['mirror', 'before'],
        [undefined, 'own'],
        ['mirror', 'behind'],
      ]);
      expect(JSON.stringify(one.upstream)).to.include('own');
      for (const { headers } of one.outgoing) expect(headers).not.to.have.property('x-simulator-label');
    });

  it('leave an answer with an empty label to the request itself, and each label counts for itself', async () => {
    const one = await outcomeOf('messages', ['400 label=""', '529 times=1 label=mirror']);
    expect(one).to.include({ status: 400 });
    expect(one.headers).not.to.have.property('x-statuses');
    expect(one.calls).to.deep.equal([{ slot: 'a', code: 'invalid_request_error' }]);
    expect(sentTo(one)).to.deep.equal([
      ['mirror', 'before'],
      ['mirror', 'before'],
      [undefined, 'own'],
    ]);
  });
});
