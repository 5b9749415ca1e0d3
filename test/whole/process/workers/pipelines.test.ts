import path from 'node:path';
import { expect } from 'chai';
import { writeIn } from '../../temp-folders.js';
import { answered, endProcesses, env, key, pidsOf, uses, workshop } from './workers.js';

const capped = { replace: 'max-tokens', by: { use: 'max-tokens', with: { cap: 7 } } };

function configOf(pipelines: readonly object[]): string {
  const [auth, limit, decode, ...rest] = uses.map((use) => ({ use }));
  return JSON.stringify({
    listen: { workers: 2, shutdownTimeout: '2s' },
    pipeline: [auth, limit, decode, { use: 'max-tokens' }, ...rest],
    pipelines,
    slots: [{ id: 'a', upstream: 'simulator' }],
    store: 'sqlite:./gateway.db',
  });
}

describe('several workers with named pipelines', function () {
  endProcesses(this);

  it('refuse a config that lacks one which a key names, with its holders, and keep the old one', async () => {
    const cwd = await workshop.folder({ 'gateway.yaml': configOf([{ name: 'red', changes: [capped] }]) });
    const file = path.join(cwd, 'gateway.yaml');
    const gateway = await workshop.start({ cwd, env, args: ['--config', file] });
    const url = await gateway.url();
    await pidsOf(gateway, url);
    const ask = async (route: string, body: object) => {
      const headers = { 'x-api-key': key, 'content-type': 'application/json' };
      const answer = await fetch(url + route, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
    };
    const issued = await ask('/api/panel/keys', { name: 'a', pipeline: 'red' });
    const { id, key: text } = issued.body as { id: string; key: string };
    await writeIn(cwd, 'gateway.yaml', configOf([]));
    const refused = await ask('/admin/reload', {});
    expect(refused.status).to.equal(409);
    const { error } = refused.body as { error: { code: string; message: string; details: object } };
    expect(error.code).to.equal('conflict');
    expect(error.message).to.include('the key "a" (red)');
    expect(error.details).to.deep.equal({ holders: [{ kind: 'key', id, name: 'a' }] });
    const canary = await ask('/admin/reload?canary=5', {});
    expect([canary.status, canary.body]).to.deep.equal([
      409,
      { ...canary.body, error: { ...error, ...withIds(canary.body) } },
    ]);
    for (let asked = 0; asked < 4; asked += 1)
      expect((await answered(url, 'Hi', { 'x-api-key': text })).response.statusCode).to.equal(200);
    await writeIn(cwd, 'gateway.yaml', configOf([{ name: 'red' }]));
    expect((await ask('/admin/reload', {})).status).to.equal(200);
  });
});

/** Fields of an error that differ by request. */
function withIds({ error }: Readonly<Record<string, unknown>>): object {
  const { request_id } = Object(error) as { request_id?: string };
  return request_id === undefined ? {} : { request_id };
}
