import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import { endsInOrder, key, LossWorkshop, models, stream, told } from './lost-exceptions.js';

describe('an exception that nobody catches', function () {
  this.timeout(60_000);
  const workshop = new LossWorkshop();
  afterEach(() => workshop.end());

  for (const way of ['event', 'signal', 'text', 'frozen', 'proxy'] as const)
    it(`is one line of the log; streams finish, and the process ends with code 1: ${way}`, () =>
      endsInOrder(workshop, way));

  it('waits for streams no longer than shutdownTimeout', async () => {
    const { gateway, url } = await workshop.start({ shutdownTimeout: '50ms' });
    const answer = await stream(url);
    await models(url, 'timer');
    expect(await answer.text()).to.include('was shut down before');
    expect(await gateway.ended).to.include({ code: 1 });
  });

  it('in a worker has another one take its place, while its streams finish', async () => {
    const { gateway, url, cwd } = await workshop.start({ workers: 2 });
    const answer = await stream(url, 'signal');
    const held = await workshop.upstream.next();
    await models(url, 'timer');
    const line = await gateway.log(told);
    const leaving = await gateway.log(
      'A worker is shutting down after an uncaught exception; a replacement is starting.',
    );
    expect(leaving).to.include({ worker: line['worker'], pid: line['pid'] });
    const back = await gateway.log('A replacement worker is serving.');
    expect(back['worker']).to.equal(line['worker']);
    expect(await models(url)).to.equal(200);
    await writeFile(path.join(cwd, 'gateway.yaml'), JSON.stringify(await reloadable(cwd)));
    const reloaded = await fetch(`${url}/admin/reload`, { method: 'POST', headers: { 'x-api-key': key } });
    expect(reloaded.status).to.equal(200);
    held.finish();
    expect(await answer.text()).to.include('message_stop');
    await gateway.log('A worker has exited.');
    await eventually(async () => (await models(url)) === 200);
    gateway.signal('SIGTERM');
    expect(await gateway.ended).to.include({ code: 0 });
  });

  async function reloadable(cwd: string): Promise<unknown> {
    return JSON.parse(await readFile(path.join(cwd, 'gateway.yaml'), 'utf8'));
  }
});
