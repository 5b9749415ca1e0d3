import type { Static } from 'typebox';
import { Type } from '@gw2api/gateway/plugin';
import {
  defineAccount,
  type Account,
  type AccountHost,
  type Credential,
  type OutgoingRequest,
  type HttpAnswer,
  type SchemaError,
} from '@gw2api/gateway/plugin/upstream';
import {
  AwsCredentials,
  awsPackage,
  loadAwsProvider,
  type LoadAwsProvider,
} from './shared/aws-credentials.js';
import { oneOfErrors, secretErrors } from './shared/option-errors.js';
import { signed, timeOf } from './shared/sigv4.js';

const Secret = Type.String({ minLength: 1, secret: true });
const name = '^[a-z0-9-]{1,60}$';

const options = Type.Object(
  {
    region: Type.String({
      pattern: name,
      title: 'Region',
      description: 'Region that requests are signed for.',
    }),
    service: Type.String({
      pattern: name,
      default: 'bedrock',
      description: 'bedrock, bedrock-mantle or aws-external-anthropic (Claude Platform on AWS).',
    }),
    accessKeyId: Type.Optional(Secret),
    secretAccessKey: Type.Optional(Secret),
    sessionToken: Type.Optional({ ...Secret, description: 'With temporary keys only.' }),
    profile: Type.Optional(
      Type.String({
        minLength: 1,
        local: true,
        description: `Profile of the shared AWS files; needs ${awsPackage}.`,
      }),
    ),
    chain: Type.Boolean({
      default: false,
      local: true,
      description:
        'In place of the keys, a profile of the shared AWS files (profile: work), or the default chain of environment, files, SSO, containers and instances (true). Both need `npm install @aws-sdk/credential-provider-node`, and renew temporary keys before they expire.',
    }),
  },
  { title: 'AWS (signed requests)' },
);

type Options = Static<typeof options>;
type RefusedAnswer = Pick<HttpAnswer, 'status' | 'headers'>;

/** An AWS account, whose requests are signed by Signature Version 4. */
export default defineAccount({
  name: 'aws-sigv4',
  api: 1,
  options,
  check,
  open: (settings, host) => openAwsAccount(settings, host),
});

const fixedKeys = ['accessKeyId', 'secretAccessKey', 'sessionToken'] as const;

function check(settings: Options): readonly SchemaError[] {
  const { accessKeyId, secretAccessKey, profile, chain } = settings;
  const given = fixedKeys.filter((key) => settings[key] !== undefined);
  const missing = accessKeyId === undefined ? 'accessKeyId' : 'secretAccessKey';
  const isPartial = given.length > 0 && (accessKeyId === undefined || secretAccessKey === undefined);
  const ways = { accessKeyId: given.length > 0 || undefined, profile, chain: chain || undefined };
  return [
    ...given.flatMap((key) => secretErrors(key, settings[key] ?? '')),
    ...(isPartial ? [{ path: [missing], message: 'is required beside the other AWS keys' }] : []),
    ...oneOfErrors(ways, Object.keys(ways)),
  ];
}

/** Opens the account; `load` loads the package of AWS for a profile or the chain. */
export async function openAwsAccount(
  settings: Options,
  host: AccountHost,
  load: LoadAwsProvider = loadAwsProvider,
): Promise<Account> {
  return new AwsAccount(settings, host, await AwsCredentials.open(settings, host, load));
}

class AwsAccount implements Account {
  readonly #scope: Pick<Options, 'region' | 'service'>;
  readonly #credentials: AwsCredentials;
  readonly #clock: AwsClock;

  constructor({ region, service }: Options, host: AccountHost, credentials: AwsCredentials) {
    this.#scope = { region, service };
    this.#credentials = credentials;
    this.#clock = new AwsClock(host);
  }

  async authorize(request: OutgoingRequest): Promise<Credential> {
    const keys = await this.#credentials.current(request.signal);
    return signed(request, { ...this.#scope, keys, atMs: this.#clock.now() });
  }

  /** Corrects the time of the signatures, or renews the keys; neither helps against wrong keys. */
  async refresh(
    refused: Credential,
    signal: OutgoingRequest['signal'],
    { headers }: RefusedAnswer,
  ): Promise<boolean> {
    if (this.#clock.correct(refused['x-amz-date'], headers)) return true;
    return this.#credentials.replace(refused, signal);
  }

  isRefusal({ status, headers }: RefusedAnswer): boolean {
    if (status === 401) return true;
    return status >= 400 && status < 500 && refusals.has(errorName(headers));
  }

  async probe(): Promise<void> {
    await this.#credentials.current(new AbortController().signal);
  }
}

/** Name of an error in `x-amzn-errortype`, whose form is `Name:URL`. */
function errorName({ 'x-amzn-errortype': type = '' }: RefusedAnswer['headers']): string {
  return type.split(':', 1)[0]?.replace(/Exception$/, '') ?? '';
}

/** Errors of AWS about a signature or its keys, which come with status 403 or 400. */
const refusals = new Set([
  'ExpiredToken',
  'IncompleteSignature',
  'InvalidClientTokenId',
  'InvalidSignature',
  'MissingAuthenticationToken',
  'RequestExpired',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
  'UnrecognizedClient',
]);

/** Time of signatures: that of the gateway, corrected by that of AWS where they are too far apart. */
class AwsClock {
  readonly #host: Pick<AccountHost, 'now' | 'log' | 'slot'>;
  #offsetMs = 0;
  #hasWarned = false;

  constructor(host: Pick<AccountHost, 'now' | 'log' | 'slot'>) {
    this.#host = host;
  }

  now(): number {
    return this.#host.now() + this.#offsetMs;
  }

  /**
   * Takes over the time of an answer that has refused a signature of `signedAt`; true if that was too far off, or
   * has been corrected since.
   */
  correct(signedAt: string | undefined, headers: HttpAnswer['headers']): boolean {
    const signedAtMs = timeOf(signedAt);
    const serverMs = Date.parse(headers['date'] ?? '');
    if (signedAtMs === undefined || Number.isNaN(serverMs)) return false;
    if (Math.abs(serverMs - signedAtMs) < toleranceMs) return false;
    const isCorrected = Math.abs(serverMs - this.now()) < toleranceMs;
    if (!isCorrected) this.#offsetMs = serverMs - this.#host.now();
    this.#warn();
    return true;
  }

  #warn(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const seconds = Math.round(-this.#offsetMs / 1000);
    const direction = seconds > 0 ? 'ahead of' : 'behind';
    this.#host.log.warn(
      { slot: this.#host.slot.id, seconds },
      `The clock of this machine is ${Math.abs(seconds)} s ${direction} that of AWS, which refuses such signatures. Requests are signed with the time of AWS; set the clock.`,
    );
  }
}

/** Difference that AWS accepts. */
const toleranceMs = 300_000;
