import { Closed } from '../../kit/schema/type.js';
import { addressProblem } from '../addresses.js';
import { Duration, durationMs, Type } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import { durationText } from '../diff/durations.js';
import { oidc, oidcErrors, withLabel } from './oidc.js';
import { schemasOf, section, setting, settled, shown, type Raw } from './section.js';

const fields = {
  publicUrl: setting(
    Type.Optional(Type.String({ minLength: 1, examples: ['http://127.0.0.1:8787'] })),
    `Address of the gateway as browsers see it: https, or http on a loopback address. OpenID Connect needs it.
      With a path, such as https://host.example.com/llm, everything is served below that path too (its cookies,
      links and redirects have it), whether the proxy keeps it or strips it. See "Below a path" in
      deploying.md.`,
    { settle: (url) => (url === undefined ? url : new URL(url).href.replace(/\/$/, '')) },
  ),
  sessionIdleTimeout: setting(
    Duration({ default: '0s' }),
    `Ends a session that has made no request for this time, in addition to its lifetime; 0s: only the lifetime. At
      least 1m. Automatic requests of an open page do not count once nobody has used the page for a minute.`,
    {
      name: 'sessionIdleMs',
      settle: (text) => durationMs(text) || undefined,
      show: (ms = 0) => durationText(ms),
    },
  ),
  oidc: setting(
    Type.Optional(Closed(schemasOf(oidc))),
    `OpenID Connect: code flow with PKCE. Register the redirect URI PUBLICURL/api/panel/oidc/callback with the
      provider.`,
    {
      settle: (raw, context) => (raw?.enabled ? withLabel(settled(oidc, raw, context)) : undefined),
      show: (values) => values && shown(oidc, values),
    },
  ),
};

/** Section `panel:`: how people sign in to the console. */
export const panel = section(fields, {
  description: 'How people sign in to the console. See "People" in config/access.md.',
  errors: panelErrors,
});

/** Section `console:`. */
export const console = section(
  {
    allowLinkLocal: setting(
      Type.Boolean({ default: false }),
      `Lets them connect to link-local and metadata addresses (169.254.0.0/16, fe80::/10 and those
        where clouds serve machine credentials). Slots of this file always may.`,
    ),
  },
  { description: 'Rights of the slots entered in the console.' },
);

type RawPanel = Raw<typeof fields>;

/** Rules for `panel:` that a schema cannot express. */
function panelErrors({ publicUrl, sessionIdleTimeout, oidc: provider }: RawPanel): readonly SchemaError[] {
  return [
    ...(publicUrl === undefined ? [] : publicUrlErrors(publicUrl)),
    ...idleTimeoutErrors(sessionIdleTimeout),
    ...(provider ? oidcErrors(provider) : []),
    ...(provider?.enabled && publicUrl === undefined ? [missingPublicUrl] : []),
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

/** Problem of the gateway's base path, which becomes the path of cookies and part of a page's links. */
function basePathProblem({ pathname, origin }: URL): string | undefined {
  const [, first = '', ...rest] = pathname.replace(/\/$/, '').split('/');
  if (pathname === '/') return undefined;
  if (![first, ...rest].every((part) => /^[\w.~-]+$/.test(part)))
    return `must have a path of only letters, digits, "-", "_", "." and "~", such as ${origin}/llm`;
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
  const message = `must be 0s (no limit) or at least 1m, not "${text}"`;
  return [{ path: ['panel', 'sessionIdleTimeout'], message }];
}

const minIdleMs = 60_000;
