import {
  changedError,
  isGatewayError,
  type Clock,
  type GatewayError,
  type Logger,
} from '../../plugin/index.js';
import type { HttpClient } from '../../plugin/upstream/index.js';
import type { ConnectSettings } from '../../plugin/core.js';
import type { OpenHttpClient } from './http-client.js';

/** Surroundings of a stage's client. */
export interface StageClientParts {
  /** Name of the stage. */
  readonly name: string;
  readonly log: Logger;
  readonly clock: Clock;
}

/**
 * Opens the client of a stage: as that of a slot, with the proxy of the environment and errors that name the address.
 * Throws if `url` is not one of HTTP.
 */
export function openStageClient(
  open: OpenHttpClient,
  url: string,
  { tls, connections, connectTimeoutMs = defaultConnectMs }: ConnectSettings,
  { name, log, clock }: StageClientParts,
): HttpClient {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new Error(`cannot connect to ${JSON.stringify(url)}; give the URL of an HTTP service`);
  const settings = {
    id: name,
    baseUrl: url,
    headers: {},
    connectTimeoutMs,
    usesEnvironment: true,
    log,
    clock,
  };
  return named(open({ ...settings, ...(tls && { tls }), ...(connections && { connections }) }, 'stage'));
}

const defaultConnectMs = 10_000;

/** The client, whose errors name its address in place of a slot. */
function named(client: HttpClient): HttpClient {
  const { origin, basePath } = client;
  return {
    origin,
    basePath,
    async send(request, terms) {
      try {
        return await client.send(request, terms);
      } catch (error) {
        throw isGatewayError(error) ? renamed(error, origin) : error;
      }
    },
    fresh: () => named(client.fresh()),
    diagnose: (...query) => client.diagnose(...query),
    close: () => client.close(),
  };
}

function renamed(error: GatewayError, origin: string): GatewayError {
  const kind = error.failure?.kind;
  const message =
    kind && Object.hasOwn(faults, kind) ? `${origin} ${faults[kind]}${codeOf(error.cause)}.` : error.message;
  return changedError(error, { message, callersMessage: 'A service of the gateway did not answer.' });
}

const faults: Readonly<Partial<Record<NonNullable<GatewayError['failure']>['kind'], string>>> = {
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  foreign: 'answered with something other than HTTP',
};

function codeOf(cause: unknown): string {
  const { code } = Object(cause) as { readonly code?: unknown }; // any object may be read by name
  return typeof code === 'string' && code !== '' ? ` (${code})` : '';
}
