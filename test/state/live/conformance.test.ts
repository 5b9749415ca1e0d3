import { MemoryHub } from '#src/state/live/memory/hub.js';
import { quiet } from '../store/stores.js';
import { describeLive } from './conformance.js';
import { IpcRig } from './ipc-rig.js';
import { openRedis, ownRedis, redisUrl } from './redis-server.js';

describe('live state in memory', () => {
  describeLive(async () => {
    const hub = new MemoryHub();
    return { connect: async () => hub.connect(), close: async () => undefined };
  });
});

describe('live state in the primary of several processes', () => {
  describeLive(async () => {
    const rig = new IpcRig();
    return { connect: () => rig.connect(), close: async () => rig.end() };
  });
});

describe('live state in Redis', () => {
  if (redisUrl === undefined) it('is tested where GW_TEST_REDIS_URL names a server');
  else
    describeLive(async () => {
      const { where, remove } = ownRedis(redisUrl!);
      return { connect: () => openRedis(where, { log: quiet }), close: remove };
    });
});
