import { createHash } from 'node:crypto';
import { GatewayError, Type } from '../../plugin/index.js';
import { isSamePerson } from '../../state/store/contract/same-person.js';
import type { Gateway } from '../../gateway/gateway.js';
import type { ConsoleSession, WholeStore } from '../../state/store/contract/store.js';
import { route, type Call, type Route } from '../../operator/route.js';
import { Count, IsoTime, isoTime, ListOf, Nullable } from '../../operator/schemas.js';
import type { Sessions } from '../../operator/access/sessions.js';

/** Routes of `/api/panel/sessions`. Admins see and end all sessions, viewers their own. */
export function sessionListRoutes({ services }: Gateway, sessions: Sessions): readonly Route[] {
  const list = new SessionList(services.store, sessions);
  return [
    route({
      method: 'GET',
      path: '/api/panel/sessions',
      summary: 'Who is signed in, newest first; viewers see their own sessions.',
      answers: { 200: ListOf(SessionItem, {}) },
      async handle(call) {
        const found = await list.visible(call);
        return { object: 'list', data: found.slice(0, maxListed).map((each) => itemOf(each, call.session)) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/panel/sessions/:id',
      summary: 'Ends a session at once, on all instances.',
      role: 'viewer',
      audit: 'session.end',
      answers: { 204: null },
      handle: (call) => list.end(call),
    }),
    route({
      method: 'DELETE',
      path: '/api/panel/sessions',
      summary: 'Ends all other sessions at once; those of a viewer, only their own.',
      role: 'viewer',
      audit: 'session.end_others',
      answers: { 200: Type.Object({ ended: Count }) },
      async handle(call) {
        const ended = await list.endOthers(call);
        call.audit.note({ ended });
        return { ended };
      },
    }),
  ];
}

/** A session as sent by the console API. */
export const SessionItem = Type.Object({
  id: Type.String({ description: 'Derived from the session; cannot be used to take it over.' }),
  kind: Type.Enum(['password', 'oidc']),
  name: Type.String(),
  role: Type.Enum(['admin', 'viewer']),
  subject: Nullable(
    Type.String({ description: 'Subject by which the OpenID provider identifies the person.' }),
  ),
  current: Type.Boolean({ description: 'Whether this request belongs to it.' }),
  created_at: IsoTime,
  last_seen_at: Nullable(IsoTime),
  expires_at: IsoTime,
  address: Nullable(Type.String()),
  user_agent: Nullable(Type.String()),
});

const maxListed = 1000;

type Asking = Pick<Call<unknown, unknown>, 'actor' | 'session' | 'audit'>;

class SessionList {
  readonly #store: WholeStore['sessions'];
  readonly #sessions: Sessions;

  constructor(store: WholeStore, sessions: Sessions) {
    this.#store = store.sessions;
    this.#sessions = sessions;
  }

  async visible({ actor, session }: Asking): Promise<readonly ConsoleSession[]> {
    const all = await this.#store.list();
    return all.filter(
      (each) => this.#sessions.isGood(each) && (actor.role === 'admin' || isOf(session, each)),
    );
  }

  async end({ id, ...asking }: Asking & { readonly id: string }): Promise<undefined> {
    const found = (await this.visible(asking)).find((each) => publicId(each) === id);
    if (!found)
      throw new GatewayError('not_found', `Unknown session ${JSON.stringify(id)}; it may have ended.`);
    await this.#sessions.end([found]);
    const { kind, name } = found.actor;
    asking.audit.change({ kind, name, address: found.address }, undefined);
    return undefined;
  }

  async endOthers(asking: Asking): Promise<number> {
    const all = await this.visible(asking);
    const others = all.filter(({ tokenHash }) => tokenHash !== asking.session?.tokenHash);
    await this.#sessions.end(others);
    return others.length;
  }
}

/** True for the person's own session, regardless of names, which people choose. */
function isOf(own: ConsoleSession | undefined, session: ConsoleSession): boolean {
  return session.tokenHash === own?.tokenHash || isSamePerson(session.subject, own?.subject);
}

/** Name of a session in paths: neither its token nor the hash in the store. */
function publicId({ tokenHash }: ConsoleSession): string {
  return createHash('sha256').update(`session ${tokenHash}`).digest('hex').slice(0, 24);
}

function itemOf(session: ConsoleSession, own: ConsoleSession | undefined): object {
  const { actor, address = '', userAgent = '' } = session;
  return {
    id: publicId(session),
    ...actor,
    subject: session.subject?.id ?? null,
    current: session.tokenHash === own?.tokenHash,
    created_at: isoTime(session.createdAtMs),
    last_seen_at: isoTime(session.lastSeenAtMs),
    expires_at: isoTime(session.expiresAtMs),
    address: address || null,
    user_agent: userAgent || null,
  };
}
