import { expect } from 'chai';
import { ProcessWorkshop } from '../gateway-process.js';
import { endsBySigterm, isNoise, makeNoise, refused, startUnread } from './unread-log.js';

describe('a gateway whose standard output nobody reads', function () {
  this.timeout(40_000);
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  it('ends by SIGTERM with 2 of its processes serving', () => endsBySigterm(workshop, 2));

  it('gives what waits some time before it ends', async () => {
    const { gateway, url } = await startUnread(workshop);
    await makeNoise(url, 12, 256 * 1024);
    gateway.signal('SIGTERM');
    await refused(url);
    gateway.resumeOutput();
    await gateway.ended;
    expect(gateway.logged.filter(isNoise)).to.have.length(12);
    await gateway.log('Shutting down.');
  });
});
