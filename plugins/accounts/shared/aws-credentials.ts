import { GatewayError, timeoutSignal } from '@gw2api/gateway/plugin';
import {
  isHeaderValue,
  untilAborted,
  type AccountHost,
  type Credential,
  type OutgoingRequest,
} from '@gw2api/gateway/plugin/upstream';
import type { AwsKeys } from './sigv4.js';

type Signal = OutgoingRequest['signal'];

/** Keys as the provider of AWS gives them. */
interface ProvidedKeys extends AwsKeys {
  readonly expiration?: Date | undefined;
}

/** Provider of the package of AWS, which keeps its keys until `forceRefresh`. */
export type AwsProvider = (options?: { readonly forceRefresh?: boolean }) => Promise<ProvidedKeys>;
export type LoadAwsProvider = (profile: string | undefined) => Promise<AwsProvider>;

interface CredentialSource extends Partial<AwsKeys> {
  readonly profile?: string | undefined;
}

/** Keys of an AWS account: fixed ones, or those of a provider, renewed before they expire. */
export class AwsCredentials {
  readonly #host: AccountHost;
  /** Absent for fixed keys. */
  readonly #provider: AwsProvider | undefined;
  #keys: ProvidedKeys | undefined;
  #renewing: Promise<ProvidedKeys> | undefined;
  #failedAtMs = -Infinity;

  private constructor(host: AccountHost, keys: ProvidedKeys | undefined, provider: AwsProvider | undefined) {
    this.#host = host;
    this.#keys = keys;
    this.#provider = provider;
  }

  /** Opens fixed keys, or loads a provider. Throws an Error that names the package if it is missing. */
  static async open(
    source: CredentialSource,
    host: AccountHost,
    load: LoadAwsProvider,
  ): Promise<AwsCredentials> {
    const { accessKeyId, secretAccessKey, sessionToken, profile } = source;
    if (accessKeyId !== undefined && secretAccessKey !== undefined) {
      const [id, secret, token] = [accessKeyId.trim(), secretAccessKey.trim(), sessionToken?.trim()];
      return new AwsCredentials(
        host,
        { accessKeyId: id, secretAccessKey: secret, sessionToken: token },
        undefined,
      );
    }
    if (host.dry) return new AwsCredentials(host, dryKeys, undefined);
    return new AwsCredentials(host, undefined, await load(profile));
  }

  /** Keys to sign with; waits for new ones if the present ones have expired. Throws `no_slot_available`. */
  async current(signal: Signal): Promise<AwsKeys> {
    const keys = this.#keys;
    if (!keys) return untilAborted(this.#renew(), signal);
    if (!this.#provider || !this.#isDue(keys)) return keys;
    return untilAborted(this.#renewEarly(keys), signal);
  }

  /** Renews refused keys; false for fixed ones, and if the provider has no others. */
  async replace(refused: Credential, signal: Signal): Promise<boolean> {
    const used = this.#keys;
    if (!this.#provider || !used) return false;
    if (!isSignedBy(used, refused)) return true; // renewed since
    return !isSame(await untilAborted(this.#renew(), signal), used);
  }

  #isDue({ expiration }: ProvidedKeys): boolean {
    if (!expiration) return false;
    const nowMs = this.#host.now();
    if (nowMs >= expiration.getTime()) return true;
    return nowMs >= expiration.getTime() - marginMs && nowMs >= this.#failedAtMs + pauseAfterFailureMs;
  }

  /** Renews keys before they expire; if that fails, the old ones are used until then. */
  async #renewEarly(keys: ProvidedKeys): Promise<ProvidedKeys> {
    try {
      return await this.#renew();
    } catch (error) {
      if (this.#host.now() >= (keys.expiration?.getTime() ?? Infinity)) throw error;
      this.#host.log.warn({ err: error }, 'The AWS credentials could not be renewed before they expire.');
      return keys;
    }
  }

  /** One renewal at a time, across all instances. */
  #renew(): Promise<ProvidedKeys> {
    this.#renewing ??= this.#host
      .withLock(() => this.#provide())
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  async #provide(): Promise<ProvidedKeys> {
    try {
      const asked = this.#provider?.({ forceRefresh: true }) ?? Promise.resolve(undefined);
      const keys = await untilAborted(asked, timeoutSignal(this.#host.clock, timeoutMs));
      if (!keys || !isUsable(keys)) throw new Error('It returned keys that no HTTP header can hold.');
      this.#keys = keys;
      return keys;
    } catch (cause) {
      this.#failedAtMs = this.#host.now();
      const message = `Slot "${this.#host.slot.id}" has no AWS credentials: its profile or chain gave none (${nameOf(cause)}).`;
      const failure = { kind: 'unreachable', reused: false } as const;
      const callersMessage = "The gateway's account at its provider is not ready.";
      throw new GatewayError('upstream_unreachable', message, { callersMessage, failure, cause });
    }
  }
}

/** Optional package with the providers of AWS. */
export const awsPackage = '@aws-sdk/credential-provider-node';

/** Loads the provider of the optional package; without a profile, its default chain. */
export async function loadAwsProvider(profile: string | undefined): Promise<AwsProvider> {
  const { defaultProvider } = await import(awsPackage).then(
    (module) => module as { defaultProvider: (options: object) => AwsProvider }, // its documented export
    (cause: unknown) => {
      throw new Error(
        `An AWS profile or credential chain needs a package: run \`npm install ${awsPackage}\`.`,
        {
          cause,
        },
      );
    },
  );
  return defaultProvider(profile === undefined ? {} : { profile });
}

/** Keys of a dry run, in which no provider is asked. */
const dryKeys: AwsKeys = { accessKeyId: 'dry-run', secretAccessKey: 'dry-run' };

function isSignedBy({ accessKeyId, sessionToken }: AwsKeys, credential: Credential): boolean {
  const isKey = credential['authorization']?.includes(`Credential=${accessKeyId}/`) === true;
  return isKey && credential['x-amz-security-token'] === sessionToken;
}

function isSame(a: AwsKeys, b: AwsKeys): boolean {
  return a.accessKeyId === b.accessKeyId && a.sessionToken === b.sessionToken;
}

function isUsable({ accessKeyId, sessionToken = '' }: AwsKeys): boolean {
  return isHeaderValue(accessKeyId) && isHeaderValue(sessionToken);
}

/** Name of an error, whose text may contain more than a caller should read. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown error';
}

/** Time before expiry at which keys are renewed, as the SDKs of AWS do. */
const marginMs = 300_000;

/** Pause after a failed early renewal, while the old keys are valid. */
const pauseAfterFailureMs = 10_000;

/** Time that a provider has for an answer. */
const timeoutMs = 30_000;
