import type { Static } from 'typebox';
import type { TlsConfig } from './tls-files.js';
import { Closed, isLoopback, Type, type SchemaError, TlsFiles } from '../plugin/internal.js';

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
  { publicUrl: Type.Optional(Text), oidc: Type.Optional(Oidc) },
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
  /** Origin of the console as browsers see it, without a trailing slash. */
  readonly publicUrl?: string;
  /** Absent where it is not configured, or not enabled. */
  readonly oidc?: OidcConfig;
}

/** Settings of `panel:`, which have passed `panelErrors`; `tls`: of its `oidc`. */
export function toPanel({ publicUrl, oidc }: RawPanel, tls?: TlsConfig): PanelConfig {
  return {
    ...(publicUrl !== undefined && { publicUrl: new URL(publicUrl).origin }),
    ...(oidc?.enabled && { oidc: { ...toOidc(oidc), ...(tls && { tls }) } }),
  };
}

function toOidc({ enabled: _, tls: __, sessionHours, ...oidc }: NonNullable<RawPanel['oidc']>): OidcConfig {
  return { ...oidc, label: oidc.label ?? new URL(oidc.issuer).host, sessionMs: sessionHours * 3_600_000 };
}

/** Rules for `panel:` that a schema cannot express. */
export function panelErrors({ publicUrl, oidc }: RawPanel): readonly SchemaError[] {
  return [
    ...(publicUrl === undefined ? [] : publicUrlErrors(publicUrl)),
    ...(oidc ? oidcErrors(oidc) : []),
    ...(oidc?.enabled && publicUrl === undefined ? [missingPublicUrl] : []),
  ];
}

const missingPublicUrl: SchemaError = {
  path: ['panel', 'oidc'],
  message:
    'needs panel.publicUrl: the origin of this console in browsers, such as https://gateway.example.com',
};

function publicUrlErrors(text: string): readonly SchemaError[] {
  const path = ['panel', 'publicUrl'];
  const message = addressProblem(text);
  if (message !== undefined) return [{ path, message }];
  const { origin, href } = new URL(text);
  const isOrigin = href === `${origin}/`;
  return isOrigin ? [] : [{ path, message: `must be an origin without a path, such as ${origin}` }];
}

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
