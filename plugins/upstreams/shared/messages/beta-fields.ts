import type { Loss, MessagesRequest, SlotCall } from '@gw2api/gateway/plugin';
import { fieldsOf } from '../fields.js';
import type { FindPart } from '../losses/refused-part.js';

/** True for the beta flag of `cache_control.scope`, which services refuse that do not know the flag. */
export function isScopeFlag(flag: string): boolean {
  return flag.startsWith('prompt-caching-scope-');
}

/** Field of a request that has a beta flag. A service that does not know the flag may take the field anyway. */
interface FlaggedField {
  readonly flag: string;
  readonly path: readonly [field: string, inner?: string];
  readonly named: RegExp;
}

const flagged: readonly FlaggedField[] = [
  { flag: 'effort-', path: ['output_config', 'effort'], named: /output_config|\beffort\b/ },
  { flag: 'context-management-', path: ['context_management'], named: /context_management/ },
  { flag: 'thinking-display-', path: ['thinking', 'display'], named: /thinking\S{0,40}display/ },
];

/** Finds a field whose flag has been left out, `leftOut` having the flags of a call that the service does not take. */
export function findFlagged(leftOut: (call: SlotCall) => readonly string[]): FindPart {
  return (said, call) => {
    if (!/extra inputs|not permitted|support|unknown|unexpected/.test(said)) return undefined;
    const flags = leftOut(call);
    const field = flagged.find(
      ({ flag, path, named }) => named.test(said) && isLeftOut(flag, flags) && has(call.request, path),
    );
    return field && { without: field.path.join('.'), isOfModel: true, isAsked: true };
  };
}

/** The request without the fields that the service has refused and whose flags are left out, which are reported. */
export function withoutFlagged(
  request: MessagesRequest,
  flags: readonly string[],
  without: SlotCall['without'],
): { readonly request: MessagesRequest; readonly losses: readonly Loss[] } {
  const refused = flagged.filter(
    ({ flag, path }) => without?.has(path.join('.')) && isLeftOut(flag, flags) && has(request, path),
  );
  const kept = refused.reduce((rest, { path }) => withoutField(rest, path), request);
  return { request: kept, losses: refused.map(({ path }) => ({ path: path.join('.'), kind: 'setting' })) };
}

function isLeftOut(start: string, flags: readonly string[]): boolean {
  return flags.some((flag) => flag.startsWith(start));
}

function has(request: MessagesRequest, [field, inner]: FlaggedField['path']): boolean {
  return inner === undefined ? request[field] !== undefined : fieldsOf(request[field])[inner] !== undefined;
}

function withoutField(request: MessagesRequest, [field, inner]: FlaggedField['path']): MessagesRequest {
  if (inner === undefined) return without(request, field) as MessagesRequest; // an optional field
  const rest = without(fieldsOf(request[field]), inner);
  if (Object.keys(rest).length === 0) return without(request, field) as MessagesRequest; // likewise
  return { ...request, [field]: rest };
}

function without(fields: object, name: string): object {
  const rest: Record<string, unknown> = { ...fields };
  delete rest[name];
  return rest;
}
