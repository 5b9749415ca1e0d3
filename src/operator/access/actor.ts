import { GatewayError } from '../../plugin/index.js';
import type { Actor, Role } from '../../state/store/contract/actor.js';

export type { Actor } from '../../state/store/contract/actor.js';

/** Caller with the master key. */
export const masterActor: Actor = { kind: 'master', name: 'master', role: 'admin' };

/** Person who logs in with the password of the console. */
export const passwordActor: Actor = { kind: 'password', name: 'password', role: 'admin' };

/** Caller of an open route before its login. */
export const nobody: Actor = { kind: 'password', name: 'nobody', role: 'viewer' };

interface Guarded {
  readonly method: string;
  /** Role that the route asks for; default: viewers read, admins change. */
  readonly role?: Role | undefined;
}

/** The one check of roles in console routes and in the routes of stages. Throws `forbidden`. */
export function requireRole(actor: Actor, { method, role }: Guarded): void {
  const needed = role ?? (isRead(method) ? 'viewer' : 'admin');
  if (needed === 'viewer' || actor.role === 'admin') return;
  const message = isRead(method)
    ? 'Only admins may see this, and you are signed in as a viewer.'
    : 'Only admins may make changes, and you are signed in as a viewer.';
  throw new GatewayError('forbidden', message);
}

/** True for a method that changes nothing. */
export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}
