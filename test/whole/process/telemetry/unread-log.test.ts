import { expect } from 'chai';
import { ProcessWorkshop } from '../../gateway-process.js';
import {
  configOf,
  dropped,
  endsBySigterm,
  file,
  isNoise,
  isRequest,
  key,
  makeNoise,
  noisy,
  startUnread,
} from './unread-log.js';

describe('a gateway whose standard output nobody reads', function () {
  this.timeout(40_000);
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  it('serves, drops the lines of requests and then all, and counts them', async () => {
    const { gateway, url } = await startUnread(workshop);
    await makeNoise(url, 18, 256 * 1024);
    for (let count = 0; count < 3; count += 1) await makeNoise(url, 0);
    expect(await dropped(url)).to.deep.equal({ info: 4 });
    await makeNoise(url, 8, 256 * 1024);
    expect(await dropped(url)).to.deep.include({ info: 5 });
    const { warn = 0 } = await dropped(url);
    expect(warn).to.be.within(1, 6);

    gateway.resumeOutput();
    const told = await gateway.line(({ dropped: lines }) => lines !== undefined);
    expect([told['level'], told['dropped']]).to.deep.equal(['warn', { warn, info: 5 }]);
    await makeNoise(url, 0);
    await gateway.line(isRequest);
    expect(gateway.logged.filter(isNoise)).to.have.length(18 + 8 - warn);
    expect(gateway.logged.filter((line) => line['dropped'] !== undefined)).to.have.length(1);
    const times = gateway.logged.map(({ time }) => String(time));
    expect(times).to.deep.equal(times.toSorted());
  });

  it('ends by SIGTERM with 1 of its processes serving', () => endsBySigterm(workshop, 1));
});

describe('a gateway whose standard output has been closed', function () {
  this.timeout(40_000);
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  it('serves on, and ends by SIGTERM', async () => {
    const cwd = await workshop.folder({ [file]: configOf(1), 'noisy.mjs': noisy });
    const gateway = await workshop.start({ cwd, env: { GW2API_API_KEY: key } });
    const url = await gateway.url();
    gateway.closeOutput();
    for (let count = 0; count < 3; count += 1) await makeNoise(url, 1, 10);
    expect(await dropped(url)).to.have.property('warn');
    gateway.signal('SIGTERM');
    expect(await gateway.exited).to.deep.include({ code: 0 });
  });
});
