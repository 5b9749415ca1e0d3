import { createStore } from './store.js';

export type SessionState = 'unknown' | 'in' | 'out';

/** Whether the panel API lets this browser in; unknown until the first answer. */
export const session = createStore<SessionState>('unknown');

/** The session has ended or there is none: the page shows the login, and comes back here afterwards. */
export function signedOut(): void {
  session.set('out');
}

export function signedIn(): void {
  session.set('in');
}
