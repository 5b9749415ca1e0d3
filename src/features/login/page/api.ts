import type { Static } from 'typebox';
import { call, fetchList, pathOf } from '../../../console/web/api/call.js';
import type { LoginWays as LoginWaysReport } from '../oidc-routes.js';
import type { SessionItem as SessionItemReport } from '../session-list.js';

/** The ways to sign in. */
export type LoginWays = Static<typeof LoginWaysReport>;
/** A session in the list of all. */
export type SessionItem = Static<typeof SessionItemReport>;

export const fetchLoginWays = (signal?: AbortSignal) => call<LoginWays>('GET', '/login', { signal });
export const logIn = (password: string) => call<unknown>('POST', '/login', { body: { password } });
export const fetchSessions = (signal?: AbortSignal) => fetchList<SessionItem>('/sessions', signal);
export const endSession = (id: string) => call<void>('DELETE', pathOf('/sessions', id));
export const endOtherSessions = () => call<{ readonly ended: number }>('DELETE', '/sessions');
