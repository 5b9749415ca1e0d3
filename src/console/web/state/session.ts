import type { Static } from 'typebox';
import type { SessionReport } from '../../../operator/schemas.js';
import { createStore, useStore } from './store.js';

/** Session of the person at this page. */
export type Session = Static<typeof SessionReport>;

type SessionState = 'unknown' | 'in' | 'out';

/** State of the console session; unknown until the first answer of the console API. */
export const session = createStore<SessionState>('unknown');

/** Session of the person at this page, as far as known. */
export const ownSession = createStore<Session | undefined>(undefined);

/** Marks the session as ended: the page shows the login and returns here afterwards. */
export function signedOut(): void {
  ownSession.set(undefined);
  session.set('out');
}

export function signedIn(own?: Session): void {
  ownSession.set(own);
  session.set('in');
}

/** True for a viewer, whose changes the gateway refuses. */
export function useIsViewer(): boolean {
  return useStore(ownSession)?.actor.role === 'viewer';
}

/** Reason why a control is disabled for viewers. */
export const adminsOnly = 'Only admins may do this, and you are signed in as a viewer.';
