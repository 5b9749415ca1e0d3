import type { Gateway } from '../../gateway/gateway.js';
import { configuredSecrets } from '../../engine/slots/slot-secrets.js';

/** Texts of a gateway's config that no report may have: options that plugins mark as secret, headers, proxies. */
export function secretsOf({ runtime, services }: Pick<Gateway, 'runtime' | 'services'>): readonly string[] {
  const ofSlots = runtime.config.slots.flatMap((config) =>
    configuredSecrets(config, services.slots.get(config.id)?.plugins ?? {}),
  );
  return [...runtime.pipeline.secrets, ...ofSlots].filter((text) => text !== '');
}
