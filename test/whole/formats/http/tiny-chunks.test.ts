import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { bodyOf, ChunkWorkshop, megabyte } from './tiny-chunks.js';

describe('a body in chunks', function () {
  if (process.platform !== 'linux') return;
  const workshop = new ChunkWorkshop();
  afterEach(() => workshop.end());

  it('costs no more where it is compressed', async () => {
    const body = bodyOf(300_000);
    const { status, extra } = await workshop.costOf('/v1/messages', gzipSync(body, { level: 0 }), {
      'content-encoding': 'gzip',
    });
    expect(status).to.equal(400);
    expect(extra).to.be.below(3 * body.length + 32 * megabyte);
  }).timeout(60_000);
});
