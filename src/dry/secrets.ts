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

function addressSecrets({ headers, proxy, baseUrl }: SlotConfig): readonly string[] {
  return [...Object.values(headers), ...[proxy, baseUrl].flatMap(urlSecrets)];
}

/** The password of an address, and the values of its query; as they are written, and decoded. */
function urlSecrets(address: string | undefined): readonly string[] {
  if (address === undefined || !URL.canParse(address)) return [];
  const { password, search, searchParams } = new URL(address);
  const written = search
    .slice(1)
    .split('&')
    .map((pair) => pair.replace(/^[^=]*=/, ''));
  return [password, decodedOf(password), ...written, ...searchParams.values()];
}

function decodedOf(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign of its own
  }
}
