import { createStore } from './store.js';

type SessionState = 'unknown' | 'in' | 'out';

/** State of the console session; unknown until the first answer of the panel API. */
export const session = createStore<SessionState>('unknown');

/** Marks the session as ended: the page shows the login and returns here afterwards. */
export function signedOut(): void {
  session.set('out');
}

export function signedIn(): void {
  session.set('in');
}
