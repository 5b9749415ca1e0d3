import type { Live } from '../plugin/index.js';
import { MemoryHub } from './memory/hub.js';
import type { RedisAddress } from './redis/address.js';
import type { RedisLiveOptions } from './redis/live.js';

/** Where instances meet, as a config says it. */
export type LiveSettings = { readonly kind: 'memory' } | ({ readonly kind: 'redis' } & RedisAddress);

/** Opens what this instance shares with others; without them where they cannot be reached. The client of Redis loads when needed. */
export async function openLive(settings: LiveSettings, options: Required<RedisLiveOptions>): Promise<Live> {
  if (settings.kind === 'memory') return new MemoryHub(options).connect();
  const { RedisLive } = await import('./redis/live.js');
  return RedisLive.open(settings, options);
}
