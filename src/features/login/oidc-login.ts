import type { AuditedAction } from '../../state/audit/audited-action.js';
import { GatewayError } from '../../plugin/index.js';
import type { Config } from '../../config/config.js';
import type { Gateway } from '../../gateway/gateway.js';
import type { OperatorContext } from '../../operator/route.js';
import type { Sessions } from '../../operator/access/sessions.js';
import { readCookie, setPrivateCookie } from '../../operator/access/cookies.js';
import { flowSeconds, FlowSeal, type Flow } from './flow.js';
import { actorOf, subjectOf, whyNoRole } from './identity.js';
import { sendHop, sendRefusal } from './pages.js';
import { Provider } from './provider.js';
import { LoginRefused, refusalOf } from './refusal.js';
import { returnPath } from './return-path.js';
import { basePathOf } from '../../config/public-url.js';

type Oidc = NonNullable<Config['panel']['oidc']>;

/** Provider of the config in force, with its settings. */
interface Configured {
  readonly oidc: Oidc;
  readonly publicUrl: string;
  /** Base path of the gateway. */
  readonly basePath: string;
  readonly isSecure: boolean;
  readonly provider: Provider;
  readonly seal: FlowSeal;
}

/** Logins with an OpenID provider: code flow with PKCE, state and nonce. */
export class OidcLogin {
  readonly #gateway: Gateway;
  readonly #sessions: Sessions;
  #configured: Configured | undefined;
  #underWay = 0;

  constructor(gateway: Gateway, sessions: Sessions) {
    this.#gateway = gateway;
    this.#sessions = sessions;
  }

  /** Runs a step of a login; turns its errors into a page and a log line. */
  async guarded(ctx: OperatorContext, step: () => Promise<void>, audit?: AuditedAction): Promise<void> {
    if (this.#underWay >= maxUnderWay) {
      audit?.refuse('overloaded');
      return this.#refuse(ctx, 503, 'Many are signing in; try again in a moment.');
    }
    this.#underWay += 1;
    try {
      await this.#sessions.admit(ctx);
      await step();
    } catch (error) {
      const refusal = refusalOf(error);
      if (!refusal) throw error;
      const { status, message, reason } = refusal;
      const level = refusal.isOutage ? 'error' : 'warn';
      ctx.state.log[level]({ address: ctx.ip, reason }, 'A login to the console by OpenID Connect failed.');
      audit?.refuse(refusal.isOutage ? 'provider_unavailable' : 'login_refused');
      this.#refuse(ctx, status, message);
    } finally {
      this.#underWay -= 1;
    }
  }

  #refuse(ctx: OperatorContext, status: number, message: string): void {
    sendRefusal(ctx, status, message, `${basePathOf(this.#gateway.runtime.config.panel.publicUrl)}/panel`);
  }

  /** Sends the browser to the provider. */
  async begin(ctx: OperatorContext, returnTo: string | undefined): Promise<void> {
    const configured = this.#configure();
    const { provider, seal, publicUrl } = configured;
    const { url, secrets } = await provider.begin();
    const sealed = await seal.seal({ ...secrets, returnTo: returnPath(returnTo, publicUrl) });
    setFlowCookie(ctx, sealed, configured);
    ctx.redirect(url);
  }

  /** Opens the session of the person that the provider has sent back. */
  async finish(ctx: OperatorContext, audit: AuditedAction): Promise<void> {
    const configured = this.#configure();
    const { oidc, provider, isSecure } = configured;
    setFlowCookie(ctx, '', configured);
    const takeBack = await this.#sessions.attempt(ctx);
    const flow = await openFlow(ctx, configured);
    const { sources, idToken } = await provider
      .finish(ctx.querystring, flow)
      .catch(async (error: unknown) => {
        if (refusalOf(error)?.isOutage) await takeBack();
        throw error;
      });
    const actor = actorOf(sources, oidc);
    const subject = subjectOf(sources);
    audit.note({ subject: subject.id, ...(actor && { role: actor.role }) }); // people may choose their own names
    if (!actor) {
      await this.#sessions.endOf(subject);
      throw noRole(subject.id, whyNoRole(sources, oidc));
    }
    await takeBack();
    await this.#sessions.begin(ctx, actor, { lastsMs: oidc.sessionMs, isSecure, subject });
    setTokenCookie(ctx, idToken, configured);
    sendHop(ctx, flow.returnTo);
  }

  /** Logout page of the provider for the person who signs out; undefined if it has none, or does not answer. */
  async endSessionUrl(ctx: OperatorContext): Promise<string | undefined> {
    if (!this.#gateway.runtime.config.panel.oidc) return undefined;
    const configured = this.#configure();
    const { provider, publicUrl } = configured;
    const cookie = tokenCookie(configured);
    const idToken = readCookie(ctx, cookie.name, cookie);
    setPrivateCookie(ctx, { ...cookie, value: '', maxAgeSeconds: 0 });
    return provider.endSessionUrl(`${publicUrl}/panel`, idToken).catch((error: unknown) => {
      const { reason } = refusalOf(error) ?? { reason: 'unknown' };
      ctx.state.log.warn({ reason }, 'The logout address of the OpenID provider could not be determined.');
      return undefined;
    });
  }

  /** Throws `not_found` if no provider is configured. */
  #configure(): Configured {
    const { oidc, publicUrl } = this.#gateway.runtime.config.panel;
    if (!oidc || publicUrl === undefined)
      throw new GatewayError(
        'not_found',
        'This console has no OpenID provider: panel.oidc is not configured.',
      );
    if (this.#configured?.oidc === oidc && this.#configured.publicUrl === publicUrl) return this.#configured;
    const { panelPassword: password, services } = this.#gateway;
    const { now } = services;
    const redirectUri = `${publicUrl}/api/panel/oidc/callback`;
    const context = JSON.stringify([oidc.issuer, oidc.clientId, redirectUri]);
    return (this.#configured = {
      oidc,
      publicUrl,
      basePath: basePathOf(publicUrl),
      isSecure: publicUrl.startsWith('https:'),
      provider: new Provider(oidc, redirectUri, now),
      seal: new FlowSeal([oidc.clientSecret, password], context, now),
    });
  }
}

/** Max logins that wait for the provider, in this process. */
const maxUnderWay = 50;

/** Throws if the browser has begun no login, or not within ten minutes. */
async function openFlow(ctx: OperatorContext, configured: Configured): Promise<Flow> {
  const cookie = flowCookie(configured);
  const flow = await configured.seal.open(readCookie(ctx, cookie.name, cookie) ?? '');
  if (flow) return flow;
  const message = 'This login was not started in this browser within the last ten minutes; sign in again.';
  throw new LoginRefused(400, message, 'no flow, or an expired one');
}

function noRole(subject: string, why: string): LoginRefused {
  const message =
    'The provider knows you, but none of your groups may use this console. Ask an operator for access.';
  const person = JSON.stringify(subject).slice(0, 200);
  return new LoginRefused(403, message, `no group with a role, subject ${person}: ${why}`);
}

/** Lax, since the provider's page sends the browser back, rather than a page of the gateway. */
function flowCookie({ basePath, isSecure }: Configured) {
  return { name: 'gw_oidc', path: `${basePath}/api/panel/oidc`, sameSite: 'Lax', isSecure } as const;
}

function setFlowCookie(ctx: OperatorContext, value: string, configured: Configured): void {
  setPrivateCookie(ctx, { ...flowCookie(configured), value, maxAgeSeconds: flowSeconds });
}

function tokenCookie({ basePath, isSecure }: Configured) {
  const path = `${basePath}/api/panel/logout`;
  return { name: 'gw_id_token', path, sameSite: 'Strict', isSecure } as const;
}

/** Keeps the ID token in the browser, for its logout at the provider; browsers reject one that is too long. */
function setTokenCookie(ctx: OperatorContext, idToken: string | undefined, configured: Configured): void {
  if (idToken === undefined || idToken.length > maxTokenLength) return;
  const maxAgeSeconds = Math.ceil(configured.oidc.sessionMs / 1000);
  setPrivateCookie(ctx, { ...tokenCookie(configured), value: idToken, maxAgeSeconds });
}

const maxTokenLength = 3500;
