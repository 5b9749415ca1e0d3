import type { Session } from '../state/session.js';
import { call } from './call.js';

export const fetchSession = () => call<Session>('GET', '/session');

/** Ends the session; `continue_to` is the logout page of the login provider. */
export const logOut = () => call<{ readonly continue_to?: string } | undefined>('POST', '/logout');
