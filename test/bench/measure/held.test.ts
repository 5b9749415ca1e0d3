import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { heldBy } from './held.js';
import { probeFlags } from './ask-probe.js';

describe('what a process holds', () => {
  it('is its resident memory, its objects and its buffers, if it was started with the probe', async () => {
    const keeps = 'globalThis.kept = Buffer.alloc(8 * 1024 * 1024, 1); setInterval(() => {}, 1000)';
    const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const;
    const child = spawn(process.execPath, [...probeFlags, '-e', keeps], { stdio: [...stdio] });
    try {
      await once(child, 'spawn');
      await heldBy(child); // an answer says that it is up: its memory is read before that one
      const { rss, heap, buffers } = await heldBy(child);
      expect(rss).to.be.greaterThan(heap);
      expect(heap).to.be.greaterThan(1_000_000);
      expect(buffers).to.be.greaterThan(8_000_000);
    } finally {
      child.kill();
    }
  });
});
