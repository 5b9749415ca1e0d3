import type { SlotConfig } from '../config/config.js';
import type { Gateway } from '../gateway/gateway.js';
import { markedTexts } from '../plugin/internal.js';

/** Texts of a gateway's config that no report may have: options that plugins mark as secret, headers, proxies. */
export function secretsOf({ runtime, services }: Pick<Gateway, 'runtime' | 'services'>): readonly string[] {
  const ofSlots = runtime.config.slots.flatMap((config) => {
    const { upstream, account } = services.slots.get(config.id)?.plugins ?? {};
    const chosen = [upstream, account].flatMap((each) => each ?? []);
    return [
      ...chosen.flatMap(({ options, plugin }) => markedTexts(options, plugin.options)),
      ...addressSecrets(config),
    ];
  });
  return [...runtime.pipeline.secrets, ...ofSlots].filter((text) => text !== '');
}

function addressSecrets({ headers, proxy }: SlotConfig): readonly string[] {
  const { password = '' } = proxy ? new URL(proxy) : {};
  return [...Object.values(headers), password, decodeURIComponent(password)];
}
