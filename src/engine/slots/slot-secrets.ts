import type { SlotConfig } from '../../config/config.js';
import { rememberingMask, exactMask, type ExactMask } from '../masking/exact-mask.js';
import { textMask, type TextMask } from '../masking/text-mask.js';
import { markedTexts } from '../../kit/schema/redact.js';
import type { Credential } from '../../plugin/upstream/index.js';
import type { SlotPlugins } from './upstream/open-upstream.js';

/** Texts of a slot that no message may show: secrets of its config, and those of its last two credentials. */
export class SlotSecrets {
  readonly #configured: readonly string[];
  #last: Credential = {};
  /** Kept for calls made with it, which may fail after a renewal. */
  #earlier: Credential = {};
  #mask: TextMask | undefined;
  #exact: ExactMask | undefined;

  constructor(configured: readonly string[]) {
    this.#configured = configured;
  }

  /** Notes the credential of a call. */
  note(credential: Credential): void {
    if (credential !== this.#last && !isSame(credential, this.#last)) {
      this.#earlier = this.#last;
      this.#mask = undefined;
      this.#exact = undefined;
    }
    this.#last = credential;
  }

  /** Masked texts: credentials with and without their scheme, and others. */
  get texts(): readonly string[] {
    const credentials = [this.#last, this.#earlier].flatMap(secretValues);
    const sent = credentials.filter((text: unknown) => typeof text === 'string'); // plugins make them
    const bare = sent.map((text) => text.replace(/^\S+\s+/, ''));
    return [...new Set([...sent, ...bare, ...this.#configured])].filter(({ length }) => length >= minLength);
  }

  /** Mask of these texts, and of anything that looks like a credential. */
  get mask(): TextMask {
    this.#mask ??= rememberingMask(textMask(this.texts));
    return this.#mask;
  }

  /** Mask of these texts alone, for texts shown to callers. */
  get exact(): ExactMask {
    this.#exact ??= exactMask(this.texts);
    return this.#exact;
  }
}

/** Min length of a secret, as masking shorter texts would garble messages. */
const minLength = 6;

function isSame(one: Credential, other: Credential): boolean {
  for (const name in one) if (one[name] !== other[name]) return false;
  return true;
}

/** Values of headers, except for those with a version, a date or an account name rather than a secret. */
function secretValues(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) => (publicNames.test(name) ? [] : value));
}

const publicNames =
  /^(?:accept|user-agent|content-type|host|referer|http-referer|x-title|x-amz-(?:date|content-sha256)|x-goog-user-project|anthropic-(?:version|beta)|openai-(?:beta|organization|project)|api-version)$/i;

/** Options that the plugins of a slot mark as secret, its headers, and the secrets in its addresses. */
export function configuredSecrets(config: SlotConfig, plugins: Partial<SlotPlugins>): readonly string[] {
  const { headers, proxy, baseUrl } = config;
  const chosen = [plugins.upstream, plugins.account].flatMap((each) => each ?? []);
  return [
    ...chosen.flatMap(({ options, plugin }) => markedTexts(options, plugin.options)),
    ...secretValues(headers),
    ...[proxy, baseUrl].flatMap(urlSecrets),
  ].filter((text) => text !== '');
}

/** The password of an address, and the values of its query; as written, and decoded. */
function urlSecrets(address: string | undefined): readonly string[] {
  if (address === undefined || !URL.canParse(address)) return [];
  const { password, search, searchParams } = new URL(address);
  const written = search
    .slice(1)
    .split('&')
    .filter((pair) => !publicNames.test(pair.split('=', 1)[0] ?? ''))
    .map((pair) => pair.replace(/^[^=]*=/, ''));
  return [password, decodedOf(password), ...written, ...secretValues(Object.fromEntries(searchParams))];
}

function decodedOf(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign of its own
  }
}
