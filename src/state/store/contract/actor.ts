/** A viewer sees everything and changes nothing. */
export type Role = 'admin' | 'viewer';

/** Operator of the gateway: a person in the console, or a program that calls the console's API or `/admin/*`. */
export interface Actor {
  readonly kind: 'master' | 'password' | 'oidc' | 'token';
  /** Name in logs and in the audit log: `master`, `password`, that of the person, or that of the token. */
  readonly name: string;
  readonly role: Role;
}
