import { readFile } from 'node:fs/promises';
import {
  createLocalJWKSet,
  errors,
  jwtVerify,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';
import {
  callerKey,
  definePlugin,
  Duration,
  durationMs,
  GatewayError,
  makeCaller,
  TlsFiles,
  Type,
  windowLimits,
  type Caller,
  type Host,
  type KeyLimits,
} from '@gw2api/gateway/plugin';
import { IssuerKeys } from './shared/issuer-keys.js';
import { keyCaller } from './shared/key-caller.js';
import { readTls } from './shared/read-tls.js';

const Name = Type.String({ minLength: 1 });
const limitNames = [...windowLimits, 'maxConcurrent'] as const;

/** Authentication by signed tokens (JWT) instead of `auth`; master and protocol keys stay valid. */
export default definePlugin({
  name: 'jwt-auth',
  api: 1,
  provides: ['caller'],
  operations: ['generate', 'count-tokens', 'models', 'usage', 'route'],
  options: Type.Object({
    jwks: {
      ...Name,
      description: 'Keys of the issuer: the URL of its JWKS, or a file, relative to this one.',
    },
    tls: Type.Optional({
      ...TlsFiles,
      description: 'TLS of the connection to it, as for a slot. Default: none of its own.',
    }),
    maxStale: Duration({
      default: '24h',
      description: 'How long the last keys stay in use while their URL cannot be read.',
    }),
    issuer: Name,
    audience: Name,
    /** Accepted signatures, none of which uses a shared secret. */
    algorithms: Type.Array(
      Type.Enum(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']),
      { minItems: 1, default: ['RS256', 'ES256', 'EdDSA'] },
    ),
    name: Type.String({
      minLength: 1,
      default: 'sub',
      description: 'The claim that names the caller; the ledger and the limits count it as jwt:NAME.',
    }),
    models: Type.Optional({
      ...Name,
      description: 'The claim with the models that it may use, a list or a text with spaces. Default all.',
    }),
    limits: Type.Unsafe<Partial<Record<keyof KeyLimits, string>>>({
      type: 'object',
      propertyNames: { enum: limitNames },
      additionalProperties: Name,
      default: {},
      description: `Claims with limits, such as { tokensPerDay: gw_tokens_per_day }. Limits: ${limitNames.join(', ')}.`,
    }),
    tags: Type.Record(Type.String(), Name, {
      default: {},
      description:
        'Usage tags of the ledger by claim, such as { team: department }: a text, a number, a boolean, or a list of these, joined by commas.',
    }),
  }),
  async setup(options, host) {
    const keys = await keysOf(options, host);
    const { issuer, audience, algorithms, name } = options;
    const terms = {
      issuer,
      audience,
      algorithms: [...algorithms],
      requiredClaims: ['exp', name],
      clockTolerance: 5,
    };
    const tags = Object.entries(options.tags);
    return async function jwtAuth(ctx, next) {
      const token = callerKey(ctx.headers);
      if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) ctx.state.caller = await keyCaller(ctx.headers, host);
      else {
        const payload = await verified(token, keys, { ...terms, currentDate: new Date(host.now()) });
        ctx.state.caller = callerOf(payload, options);
        for (const [tag, claim] of tags) ctx.state.trace.tag(tag, tagOf(payload[claim]));
      }
      await next();
    };
  },
});

interface KeysOptions {
  readonly jwks: string;
  readonly maxStale: string;
  readonly tls?: TlsFiles;
}

/** Keys of a URL, or of a file. */
async function keysOf({ jwks, maxStale, tls }: KeysOptions, host: Host): Promise<JWTVerifyGetKey> {
  if (/^https?:/i.test(jwks)) {
    const terms = { maxStaleMs: durationMs(maxStale), tls: tls && readTls(tls, host) };
    return new IssuerKeys(new URL(jwks), host, terms).find;
  }
  return createLocalJWKSet(JSON.parse(await readFile(host.resolvePath(jwks), 'utf8')) as JSONWebKeySet); // jose checks its shape
}

async function verified(
  token: string,
  keys: JWTVerifyGetKey,
  terms: Parameters<typeof jwtVerify>[2],
): Promise<JWTPayload> {
  if (token.length > maxTokenLength) throw new GatewayError('invalid_api_key', 'This token is too long.');
  try {
    return (await jwtVerify(token, keys, terms)).payload;
  } catch (cause) {
    const isToken = cause instanceof errors.JOSEError && !issuerFaults.has(cause.code);
    if (isToken)
      throw new GatewayError('invalid_api_key', `This token is not valid: ${cause.message}.`, { cause });
    const message = 'The keys of the token issuer cannot be read right now. Try again in a moment.';
    throw new GatewayError('store_unavailable', message, { headers: { 'retry-after': '1' }, cause });
  }
}

/** Max length of the token; a longer one may carry more claims than a caller may have. */
const maxTokenLength = 10_000;

/** Codes of jose for a set of keys that cannot be read. */
const issuerFaults: ReadonlySet<string> = new Set([
  'ERR_JOSE_GENERIC',
  'ERR_JWKS_TIMEOUT',
  'ERR_JWKS_INVALID',
]);

interface ClaimNames {
  readonly name: string;
  readonly models?: string;
  readonly limits: Readonly<Partial<Record<keyof KeyLimits, string>>>;
}

function callerOf(payload: JWTPayload, claims: ClaimNames): Caller {
  const { name, models, limits } = claims;
  const given = Object.entries(limits).map(([limit, claim]) => [limit, payload[claim]] as const);
  const fields = {
    name: payload[name],
    limits: Object.fromEntries(given),
    claims: payload,
    ...(models !== undefined && { models: listOf(payload[models]) }),
  };
  return makeCaller('jwt', fields, (field) => `This token is not valid: ${sourceOf(field, claims)}`);
}

/** Claim that a field of the caller is read from. */
function sourceOf(field: string, { name, models, limits }: ClaimNames): string {
  const sources = { name, models, ...prefixed('limits.', limits) };
  const claim = Object.entries(sources).find(([known]) => known === field)?.[1];
  return claim === undefined ? `its ${field}` : `its claim "${claim}" (${field})`;
}

function prefixed(prefix: string, fields: ClaimNames['limits']): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).map(([field, claim]) => [prefix + field, claim]));
}

/** Usage tag of a claim; empty for one that is an object, or absent. */
function tagOf(value: unknown): string {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((each) => ['string', 'number', 'boolean'].includes(typeof each)).join(',');
}

/** Models of a claim, which is a list or a text with spaces; one without models allows none. */
function listOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value)
    ? value
    : typeof value === 'string'
      ? value.split(' ')
      : [];
  return list.filter((each): each is string => typeof each === 'string' && each !== '');
}
