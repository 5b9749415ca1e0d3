import { addressProblem } from '../addresses.js';
import { TlsFiles, Type } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import { setting, type Raw, type Settled } from './section.js';
import { hourMs } from '../../kit/time/clock.js';

const Text = Type.String({ minLength: 1 });

/** Settings of `panel.oidc:`, OpenID Connect for the console. */
export const oidc = {
  enabled: setting(
    Type.Boolean({ default: true, examples: [false] }),
    'Default true: on as soon as the rest is configured.',
  ),
  issuer: setting(
    Type.String({ minLength: 1, examples: ['https://login.example.com'] }),
    `Issuer as in the provider's metadata, at ISSUER/.well-known/openid-configuration. The provider is first contacted at
      the first login.`,
  ),
  clientId: setting(
    Type.String({ minLength: 1, examples: ['gw2api'] }),
    'Id of the client registered with the provider.',
  ),
  clientSecret: setting(
    Type.String({ minLength: 1, secret: true, examples: ['${GW_OIDC_SECRET:-change-me}'] }),
    'Its secret.',
  ),
  label: setting(
    Type.Optional(Type.String({ minLength: 1, maxLength: 40, examples: ['Example'] })),
    'Name of the provider on the button "Sign in with ...". Default: the host of the issuer.',
  ),
  scopes: setting(
    Type.Array(Text, { minItems: 1, default: ['openid', 'email', 'profile'] }),
    'Scopes to request from the provider; openid is required.',
  ),
  groupsClaim: setting(
    Type.String({ minLength: 1, default: 'groups' }),
    `Claim with the groups of a person, from the ID token or else from userinfo: a list, a text, or an object
      whose keys are the groups. A path such as realm_access.roles reaches into objects.`,
  ),
  nameClaim: setting(
    Type.String({ minLength: 1, default: 'email' }),
    'Claim that names a person in lists and logs.',
  ),
  emailVerified: setting(
    Type.Enum(['required', 'assume'], { default: 'required' }),
    `With groupsClaim: email, an address grants a role only if email_verified is true. "assume":
      also if neither the ID token nor userinfo has email_verified. Use it only if the provider verifies
      every address.`,
  ),
  adminGroups: setting(
    Type.Array(Text, { default: [] }),
    `Admins may change everything, viewers see everything and change nothing; nobody else gets in. "*" in
      viewerGroups: everyone whom the provider signs in. A role is fixed at the login; a new one needs a new
      login.`,
  ),
  viewerGroups: setting(
    Type.Array(Text, { default: [], examples: [['*']] }),
    'Groups whose people are viewers.',
  ),
  only: setting(
    Type.Boolean({ default: false }),
    `Disables password logins, and ends the sessions that began with one. The master key still works
      in headers.`,
  ),
  tls: setting(
    Type.Optional(TlsFiles),
    'TLS of the connections to it, as for a slot. Default: none of its own.',
    { settle: (_, { oidcTls }) => oidcTls, show: (tls) => tls?.shown },
  ),
  sessionHours: setting(
    Type.Number({ exclusiveMinimum: 0, maximum: 12, default: 12 }),
    'Lifetime of a session in hours, at most 12.',
    {
      name: 'sessionMs',
      settle: (hours) => hours * hourMs,
      show: (ms) => (ms === undefined ? ms : ms / hourMs),
    },
  ),
};

/** The provider with its label; `enabled` has been checked. */
export function withLabel({ enabled: _, label, ...provider }: Settled<typeof oidc>) {
  return { ...provider, label: label ?? new URL(provider.issuer).host };
}

/** Rules for `panel.oidc:` that a schema cannot express. */
export function oidcErrors({ issuer, scopes, adminGroups, viewerGroups }: Raw<typeof oidc>): SchemaError[] {
  const address = addressProblem(issuer);
  return [
    ...(address === undefined ? [] : [errorAt('issuer', address)]),
    ...(scopes.includes('openid') ? [] : [errorAt('scopes', 'must contain "openid"')]),
    ...(adminGroups.includes('*')
      ? [errorAt('adminGroups', 'must name groups: only viewerGroups takes "*"')]
      : []),
    ...(adminGroups.length + viewerGroups.length > 0
      ? []
      : [
          {
            path: ['panel', 'oidc'],
            message: 'needs adminGroups or viewerGroups, or nobody could sign in',
          },
        ]),
  ];
}

function errorAt(key: string, message: string): SchemaError {
  return { path: ['panel', 'oidc', key], message };
}
