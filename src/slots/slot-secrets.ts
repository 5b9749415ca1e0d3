import type { SlotConfig } from '../config/config.js';
import { rememberingMask } from '../masking/remembering-mask.js';
import { textMask, type TextMask } from '../masking/text-mask.js';
import { markedTexts, type Credential } from '../plugin/internal.js';
import type { SlotPlugins } from './open-upstream.js';

/** Texts of a slot that no message may show: secrets of its config, and those of its last two credentials. */
export class SlotSecrets {
  readonly #configured: readonly string[];
  #last: Credential = {};
  /** A call that was made with it may fail after a renewal. */
  #earlier: Credential = {};
  #mask: TextMask | undefined;

  constructor(configured: readonly string[]) {
    this.#configured = configured;
  }

  /** Notes the credential of a call. */
  note(credential: Credential): void {
    if (credential !== this.#last && !isSame(credential, this.#last)) {
      this.#earlier = this.#last;
      this.#mask = undefined;
    }
    this.#last = credential;
  }

  /** Credentials come with and without their scheme. */
  get texts(): readonly string[] {
    const credentials = [this.#last, this.#earlier].flatMap((credential) => Object.values(credential));
    const sent = credentials.filter((text: unknown) => typeof text === 'string'); // plugins make them
    const bare = sent.map((text) => text.replace(/^\S+\s+/, ''));
    return [...new Set([...sent, ...bare, ...this.#configured])].filter(({ length }) => length >= minLength);
  }

  /** Mask of these texts, and of whatever looks like a credential. */
  get mask(): TextMask {
    this.#mask ??= rememberingMask(textMask(this.texts));
    return this.#mask;
  }
}

/** Shorter texts are no secrets, and would blot messages. */
const minLength = 6;

function isSame(one: Credential, other: Credential): boolean {
  for (const name in one) if (one[name] !== other[name]) return false;
  return true;
}

/** Options that the plugins of a slot mark as secret, its headers, and what its addresses have of secrets. */
export function configuredSecrets(config: SlotConfig, plugins: Partial<SlotPlugins>): readonly string[] {
  const { headers, proxy, baseUrl } = config;
  const chosen = [plugins.upstream, plugins.account].flatMap((each) => each ?? []);
  return [
    ...chosen.flatMap(({ options, plugin }) => markedTexts(options, plugin.options)),
    ...Object.values(headers),
    ...[proxy, baseUrl].flatMap(urlSecrets),
  ].filter((text) => text !== '');
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
