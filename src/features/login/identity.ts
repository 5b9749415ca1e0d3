import { isRecord } from '../../kit/schema/record.js';
import type { Actor, Role } from '../../state/store/contract/actor.js';
import type { Subject } from '../../state/store/contract/store.js';

export type Claims = Readonly<Record<string, unknown>>;

/** Claims of a login: those of the ID token, then those of userinfo, if it was requested. */
export type Sources = readonly [idToken: Claims, ...userinfo: Claims[]];

/** Settings for deriving an actor from claims. */
export interface IdentityRules {
  /** Name of a claim, or the path to one within objects: `realm_access.roles`. */
  readonly groupsClaim: string;
  readonly nameClaim: string;
  readonly adminGroups: readonly string[];
  /** `*`: everyone. */
  readonly viewerGroups: readonly string[];
  /** `assume`: an email without `email_verified` gives a role anyway. */
  readonly emailVerified: 'required' | 'assume';
}

/** The person of a login; undefined if none of its groups has a role. */
export function actorOf(sources: Sources, rules: IdentityRules): Actor | undefined {
  const role = roleOf(groupsOf(sources, rules), rules);
  return role && { kind: 'oidc', name: nameOf(sources, rules.nameClaim), role };
}

/** Person of a login, which its ID token names by issuer and subject. */
export function subjectOf([{ iss, sub }]: Sources): Subject {
  return { issuer: String(iss), id: String(sub) };
}

/** True if userinfo could add nothing to the role and the name. */
export function isComplete(sources: Sources, rules: IdentityRules): boolean {
  const { groupsClaim, nameClaim } = rules;
  const hasName = sources.some((claims) => claimAt(claims, nameClaim) !== undefined);
  if (groupsClaim === 'email') return hasName && emailOf(sources).isVerified !== undefined;
  return hasName && groupsOf(sources, rules).length > 0;
}

/** Reason for the log why a login has no role. */
export function whyNoRole(sources: Sources, rules: IdentityRules): string {
  const { groupsClaim } = rules;
  const groups = groupsOf(sources, rules).length;
  if (groups > 0)
    return `the claim "${groupsClaim}" has ${groups === 1 ? '1 group' : `${groups} groups`}, none of which has a role`;
  if (sources.every((claims) => claimAt(claims, groupsClaim) === undefined))
    return `neither ID token nor userinfo has the claim "${groupsClaim}"`;
  if (groupsClaim !== 'email') return `the claim "${groupsClaim}" is empty`;
  return emailOf(sources).isVerified === false
    ? 'its email is not verified'
    : 'nothing says whether its email is verified (panel.oidc.emailVerified)';
}

function roleOf(groups: readonly string[], { adminGroups, viewerGroups }: IdentityRules): Role | undefined {
  const own = new Set(groups);
  if (adminGroups.some((group) => own.has(group))) return 'admin';
  return viewerGroups.some((group) => group === '*' || own.has(group)) ? 'viewer' : undefined;
}

/** Groups of the first source that has any. */
function groupsOf(sources: Sources, { groupsClaim, emailVerified }: IdentityRules): readonly string[] {
  if (groupsClaim === 'email') {
    const { email, isVerified = emailVerified === 'assume' } = emailOf(sources);
    return isVerified && email !== undefined ? [email] : [];
  }
  return sources.map((claims) => groupsIn(claims, groupsClaim)).find((groups) => groups.length > 0) ?? [];
}

/** Groups of a claim: a list of texts, one text, or the keys of an object. */
function groupsIn(claims: Claims, claim: string): readonly string[] {
  const value = claimAt(claims, claim);
  if (isRecord(value)) return Object.keys(value).filter((key) => value[key] !== false && value[key] !== null);
  return (Array.isArray(value) ? value : [value]).filter((group) => typeof group === 'string');
}

/** Name for lists and logs; a person without the claim has the subject, which every ID token names. */
function nameOf(sources: Sources, claim: string): string {
  const isRefused = claim === 'email' && emailOf(sources).isVerified === false;
  const values = isRefused ? [] : sources.map((claims) => claimAt(claims, claim));
  const name = values.find((value) => typeof value === 'string' && value.trim() !== '');
  return String(name ?? sources[0]['sub'])
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, maxName);
}

const maxName = 200;

/** A claim by its name, which may contain dots, or by its path. */
function claimAt(claims: Claims, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim];
  return claim
    .split('.')
    .reduce<unknown>(
      (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      claims,
    );
}

/** Email of a login. */
interface Email {
  readonly email: string | undefined;
  /** Undefined if no source verifies this address. */
  readonly isVerified: boolean | undefined;
}

/** The email of the first source that has one; statements about another address do not apply to this one. */
function emailOf(sources: Sources): Email {
  const email = sources.map((claims) => claims['email']).find((each) => typeof each === 'string');
  const verdict = sources
    .filter((claims) => claims['email'] === email)
    .map((claims) => claims['email_verified'])
    .find((each) => each !== undefined);
  // Some providers write booleans as text.
  return { email, isVerified: verdict === undefined ? undefined : verdict === true || verdict === 'true' };
}
