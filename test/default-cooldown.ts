import type { CooldownPolicy } from '#src/config/config.js';

/** Cooldowns of a slot whose config sets none. */
export const defaultCooldown: CooldownPolicy = {
  rateLimited: { firstMs: 30_000, maxMs: 600_000 },
  overloaded: { firstMs: 5000, maxMs: 120_000 },
  unreachable: { firstMs: 2000, maxMs: 60_000 },
  maxMs: 900_000,
};
