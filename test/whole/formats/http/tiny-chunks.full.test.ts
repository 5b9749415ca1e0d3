import { expect } from 'chai';
import { bodyOf, ChunkWorkshop, largeChunks, megabyte } from './tiny-chunks.js';

describe('a body in chunks', function () {
  if (process.platform !== 'linux') return;
  const workshop = new ChunkWorkshop();
  afterEach(() => workshop.end());

  it('of one byte costs at most three times its size and 32 MB', async () => {
    const body = bodyOf(2 * megabyte);
    const { status, extra } = await workshop.costOf('/v1/messages', body);
    expect(status).to.equal(400);
    expect(extra).to.be.below(3 * body.length + 32 * megabyte);
  }).timeout(60_000);

  it('of 60 kB costs no more', async () => {
    const body = bodyOf(80 * megabyte);
    const { status, extra } = await workshop.costOf('/v1/messages', body, {}, largeChunks);
    expect(status).to.equal(400);
    expect(extra).to.be.below(3 * body.length + 32 * megabyte);
  }).timeout(120_000);
});
