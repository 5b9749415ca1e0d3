import type { Live } from '../../plugin/core.js';
import { MemoryHub } from './memory/hub.js';
import type { RedisAddress } from './redis/address.js';
import type { RedisLiveOptions } from './redis/live.js';

/** Backend of the state that instances share, as configured under `live:`. */
export type LiveSettings = { readonly kind: 'memory' } | ({ readonly kind: 'redis' } & RedisAddress);

/**
 * Opens the state that instances share; if the backend is down, this instance works alone. The Redis client
 * is loaded only when needed.
 */
export async function openLive(settings: LiveSettings, options: Required<RedisLiveOptions>): Promise<Live> {
  if (settings.kind === 'memory') return new MemoryHub(options).connect();
  const { RedisLive } = await import('./redis/live.js');
  return RedisLive.open(settings, options);
}
