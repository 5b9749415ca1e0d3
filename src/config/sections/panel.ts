import type { Static } from 'typebox';
import type { TlsConfig } from '../tls-files.js';
import { Closed } from '../../kit/schema/closed.js';
import { Duration, durationMs, isLoopback, TlsFiles, Type } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';

const Text = Type.String({ minLength: 1 });

const Oidc = Closed({
  enabled: Type.Boolean({ default: true }),
  issuer: Text,
  clientId: Text,
  clientSecret: Type.String({ minLength: 1, secret: true }),
  label: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  scopes: Type.Array(Text, { minItems: 1, default: ['openid', 'email', 'profile'] }),
  groupsClaim: Type.String({ minLength: 1, default: 'groups' }),
  nameClaim: Type.String({ minLength: 1, default: 'email' }),
  emailVerified: Type.Enum(['required', 'assume'], { default: 'required' }),
  adminGroups: Type.Array(Text, { default: [] }),
  viewerGroups: Type.Array(Text, { default: [] }),
  only: Type.Boolean({ default: false }),
  tls: Type.Optional(TlsFiles),
  sessionHours: Type.Number({ exclusiveMinimum: 0, maximum: 12, default: 12 }),
});

/** Schema of `panel:`; `panelErrors` has the rules that a schema cannot express. */
export const PanelSchema = Closed(
  {
    publicUrl: Type.Optional(Text),
    sessionIdleTimeout: Duration({ default: '0s' }),
    oidc: Type.Optional(Oidc),
  },
  { default: {} },
);

type RawPanel = Static<typeof PanelSchema>;

/** OpenID Connect for the console. */
export interface OidcConfig {
  /** As in the provider's metadata and tokens. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Name of the provider on the button of the login page. */
  readonly label: string;
  readonly scopes: readonly string[];
  /** Name of a claim, or the path to one within objects: `realm_access.roles`. */
  readonly groupsClaim: string;
  readonly nameClaim: string;
  /** `assume`: an email of which nobody says whether it is verified gives a role all the same. */
  readonly emailVerified: 'required' | 'assume';
  readonly adminGroups: readonly string[];
  /** `*`: everyone whom the provider signs in. */
  readonly viewerGroups: readonly string[];
  /** Switches logins with the password off. */
  readonly only: boolean;
  /** Lifetime of a session. */
  readonly sessionMs: number;
  /** TLS of the connections to the provider, with the texts of its files. */
  readonly tls?: TlsConfig;
}

export interface PanelConfig {
  /** Address of the gateway as browsers see it, without a trailing slash: `https://host`, `https://host/llm`. */
  readonly publicUrl?: string;
  /** Time without a request after which a session ends; absent: no such limit. */
  readonly sessionIdleMs?: number;
  /** Absent where it is not configured, or not enabled. */
  readonly oidc?: OidcConfig;
}

/** Settings of `panel:`, which have passed `panelErrors`; `tls`: of its `oidc`. */
export function toPanel({ publicUrl, sessionIdleTimeout, oidc }: RawPanel, tls?: TlsConfig): PanelConfig {
  const sessionIdleMs = durationMs(sessionIdleTimeout);
  return {
    ...(publicUrl !== undefined && { publicUrl: new URL(publicUrl).href.replace(/\/$/, '') }),
    ...(sessionIdleMs > 0 && { sessionIdleMs }),
    ...(oidc?.enabled && { oidc: { ...toOidc(oidc), ...(tls && { tls }) } }),
  };
}

function toOidc({ enabled: _, tls: __, sessionHours, ...oidc }: NonNullable<RawPanel['oidc']>): OidcConfig {
  return { ...oidc, label: oidc.label ?? new URL(oidc.issuer).host, sessionMs: sessionHours * 3_600_000 };
}

/** Rules for `panel:` that a schema cannot express. */
export function panelErrors({ publicUrl, sessionIdleTimeout, oidc }: RawPanel): readonly SchemaError[] {
  return [
    ...(publicUrl === undefined ? [] : publicUrlErrors(publicUrl)),
    ...idleTimeoutErrors(sessionIdleTimeout),
    ...(oidc ? oidcErrors(oidc) : []),
    ...(oidc?.enabled && publicUrl === undefined ? [missingPublicUrl] : []),
  ];
}

const missingPublicUrl: SchemaError = {
  path: ['panel', 'oidc'],
  message:
    'needs panel.publicUrl: the address of this gateway in browsers, such as https://gateway.example.com',
};

function publicUrlErrors(text: string): readonly SchemaError[] {
  const path = ['panel', 'publicUrl'];
  const message = addressProblem(text);
  if (message !== undefined) return [{ path, message }];
  const problem = basePathProblem(new URL(text));
  return problem === undefined ? [] : [{ path, message: problem }];
}

/** Problem of the path that the gateway is below; it becomes the path of cookies and part of a page's links. */
function basePathProblem({ pathname, origin }: URL): string | undefined {
  const [, first = '', ...rest] = pathname.replace(/\/$/, '').split('/');
  if (pathname === '/') return undefined;
  if (![first, ...rest].every((part) => /^[\w.~-]+$/.test(part)))
    return `must have a path of letters, digits, "-", "_", "." and "~" alone, such as ${origin}/llm`;
  if (!ownAreas.has(first)) return undefined;
  return `must not have a path that begins with /${first}, which is the gateway's own; ${origin} is enough where it is at the root of its host`;
}

/** First parts of the paths that every gateway serves; below one of them a path could have two meanings. */
const ownAreas: ReadonlySet<string> = new Set(
  'admin api panel openapi.json metrics health meta v1 openai models usage messages chat responses completions'.split(
    ' ',
  ),
);

function idleTimeoutErrors(text: string): readonly SchemaError[] {
  const ms = durationMs(text);
  if (ms === 0 || ms >= minIdleMs) return [];
  const message = `must be 0s, for no such limit, or at least 1m, not "${text}"`;
  return [{ path: ['panel', 'sessionIdleTimeout'], message }];
}

const minIdleMs = 60_000;

function oidcErrors({
  issuer,
  scopes,
  adminGroups,
  viewerGroups,
}: NonNullable<RawPanel['oidc']>): SchemaError[] {
  const address = addressProblem(issuer);
  return [
    ...(address === undefined ? [] : [at('issuer', address)]),
    ...(scopes.includes('openid') ? [] : [at('scopes', 'must contain "openid"')]),
    ...(adminGroups.includes('*')
      ? [at('adminGroups', 'must name groups: only viewerGroups takes "*"')]
      : []),
    ...(adminGroups.length + viewerGroups.length > 0
      ? []
      : [
          {
            path: ['panel', 'oidc'],
            message: 'needs adminGroups or viewerGroups: else nobody could sign in',
          },
        ]),
  ];
}

function at(key: string, message: string): SchemaError {
  return { path: ['panel', 'oidc', key], message };
}

/** Problem of an address that browsers and tokens rely on; messages do not repeat a password in it. */
function addressProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    return 'must be a URL that begins with https://';
  if (url.username !== '' || url.password !== '') return 'must not hold a user or a password';
  if (url.search !== '' || url.hash !== '') return 'must have no query and no fragment';
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    return 'must begin with https://; http:// is for loopback addresses alone';
  return undefined;
}
