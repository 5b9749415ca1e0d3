import { isRecord, type Actor, type Role, type Subject } from '../../../plugin/internal.js';

export type Claims = Readonly<Record<string, unknown>>;

/** Settings that make an actor of claims. */
export interface IdentityRules {
  /** Name of a claim, or the path to one within objects: `realm_access.roles`. */
  readonly groupsClaim: string;
  readonly nameClaim: string;
  readonly adminGroups: readonly string[];
  /** `*`: everyone. */
  readonly viewerGroups: readonly string[];
}

/** The person of a login; undefined where none of its groups has a role. */
export function actorOf(claims: Claims, rules: IdentityRules): Actor | undefined {
  const role = roleOf(groupsIn(claims, rules.groupsClaim), rules);
  return role && { kind: 'oidc', name: nameIn(claims, rules.nameClaim), role };
}

/** Person of a login, which its ID token names by issuer and subject. */
export function subjectOf({ iss, sub }: Claims): Subject {
  return { issuer: String(iss), id: String(sub) };
}

function roleOf(groups: readonly string[], { adminGroups, viewerGroups }: IdentityRules): Role | undefined {
  const own = new Set(groups);
  if (adminGroups.some((group) => own.has(group))) return 'admin';
  return viewerGroups.some((group) => group === '*' || own.has(group)) ? 'viewer' : undefined;
}

/** Groups of a claim: a list of texts, or one text. */
export function groupsIn(claims: Claims, claim: string): readonly string[] {
  const value = claimAt(claims, claim);
  return (Array.isArray(value) ? value : [value]).filter((group) => typeof group === 'string');
}

/** Name for lists and logs; a person without the claim has the subject, which every ID token names. */
function nameIn(claims: Claims, claim: string): string {
  const value = claimAt(claims, claim);
  const name = typeof value === 'string' && value.trim() !== '' ? value : String(claims['sub']);
  return name.replaceAll(/\p{Cc}/gu, ' ').slice(0, maxName);
}

const maxName = 200;

/** A claim by its name, which may contain dots, or by its path; an address that is not verified is none. */
export function claimAt(claims: Claims, claim: string): unknown {
  if (claim === 'email' && claims['email_verified'] === false) return undefined;
  if (Object.hasOwn(claims, claim)) return claims[claim];
  return claim
    .split('.')
    .reduce<unknown>(
      (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      claims,
    );
}
