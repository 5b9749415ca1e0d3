import type { ConfigProblem } from '../../../config/config.js';
import { coreKeys, type StateKey } from '../../../plugin/core.js';
import type { Operation } from '../../../plugin/index.js';
import { didYouMean } from '../../../kit/schema/did-you-mean.js';
import type { Need } from './conditions.js';
import { introduces, operationsOf, ownOperations, type Order, type OrderedStage } from './order-stage.js';

/** Error in the order of stages for one operation; its message is `<head> for count-tokens<tail>`. */
export interface OrderError {
  readonly key: StateKey | undefined;
  /** Undefined for the pipeline as a whole. */
  readonly stage: OrderedStage | undefined;
  /** Undefined for all operations of the stage. */
  readonly operation: Operation | undefined;
  readonly head: string;
  readonly tail: string;
  /** The built-in that would provide the key and is not in the pipeline. */
  readonly absentBuiltin?: string | undefined;
}

/** Errors as problems, without duplicates; a missing built-in is reported only at its first use. */
export function toProblems(errors: readonly OrderError[], order: Order): readonly ConfigProblem[] {
  const groups = new Map<string, OrderError[]>();
  for (const error of errors) {
    const same = JSON.stringify([error.stage?.path, error.head, error.tail]);
    groups.set(same, [...(groups.get(same) ?? []), error]);
  }
  const place = ({ stage }: OrderError) => (stage ? order.stages.indexOf(stage) : order.stages.length);
  const reported = new Set<string>();
  return [...groups.values()]
    .toSorted(([a], [b]) => (a && b ? place(a) - place(b) : 0))
    .filter(([first]) => isFirst(first?.absentBuiltin, reported))
    .flatMap((group) => toProblem(group, order));
}

/** Joins the errors of several operations; these are named unless they are all that the stage has. */
function toProblem(group: readonly OrderError[], order: Order): readonly ConfigProblem[] {
  const [first] = group;
  if (!first) return [];
  const { stage, head, tail } = first;
  const concerned = group.flatMap(({ operation }) => operation ?? []);
  const isAll = concerned.length === 0 || (stage && concerned.length === operationsOf(stage, order).length);
  const message = `${head}${isAll ? '' : ` for ${enumerate(concerned)}`}${tail}`;
  if (stage) return [{ at: stage.at, path: stage.path, subject: stage.name, message }];
  return [{ at: order.at, path: 'pipeline', message }];
}

/** True for a missing name, and for the first occurrence of one, which is remembered in `seen`. */
function isFirst(name: string | undefined, seen: Set<string>): boolean {
  if (name === undefined) return true;
  const isNew = !seen.has(name);
  seen.add(name);
  return isNew;
}

function enumerate(names: readonly string[]): string {
  return names.join(', ').replace(/, ([^,]*)$/, ' and $1');
}

/** Error for a key that a stage lacks; `below` is the stage that provides it too late, if any. */
export function missing(
  order: Order,
  stage: OrderedStage,
  { key, why }: Need,
  operation?: Operation,
  below?: OrderedStage,
): OrderError {
  const head = `needs "${key}"${why}`;
  const place = `"${below?.name}" provides only at line ${below?.at.line}`;
  if (below) return { key, stage, operation, head, tail: `, which ${place}; move it below` };
  return { key, stage, operation, head, ...absence(order, key, operation, stage) };
}

/** State of a walk, for its errors. */
interface Walked {
  readonly order: Order;
  readonly operation: Operation;
  readonly partly: ReadonlyMap<StateKey, Partly>;
}

/** Error for a key that the core requires after the last stage. */
export function unanswered({ order, operation, partly }: Walked, key: StateKey): OrderError {
  const alternatives = partly.get(key);
  const rest = alternatives ? { tail: partlyTail(alternatives) } : absence(order, key, operation);
  return { key, stage: undefined, operation, head: `must provide "${key}"`, ...rest };
}

/** Fix for a key that no stage provides to these requests; `stage` is the one that requires it. */
function absence(
  order: Order,
  key: StateKey,
  operation: Operation | undefined,
  stage?: OrderedStage,
): Pick<OrderError, 'tail' | 'absentBuiltin'> {
  const other = order.stages.find(
    (one) => introduces(one, key) && operation && !ownOperations(one).includes(operation),
  );
  if (other)
    return {
      tail: `, which "${other.name}" at line ${other.at.line} provides only for other requests; let it handle these too`,
    };
  const absentBuiltin = order.builtins.find((builtin) => introduces(builtin, key))?.name;
  const meant = absentBuiltin ? undefined : didYouMean(key, knownKeys(order));
  const what = meant ? `did you mean "${meant}"?` : cure(order, key, absentBuiltin, stage);
  return { tail: `, which no stage provides; ${what}`, absentBuiltin };
}

function knownKeys({ stages, builtins }: Order): readonly string[] {
  return [...coreKeys, ...[...builtins, ...stages].flatMap(({ provides }) => provides)];
}

function cure({ off }: Order, key: StateKey, builtin: string | undefined, stage?: OrderedStage): string {
  const place = stage ? ' above it' : key === 'response' ? ' as the last stage' : '';
  if (!builtin) return `add a plugin that does${place}`;
  const disabled = off.find(({ use }) => use === builtin);
  if (!disabled) return `add "- use: ${builtin}"${place}`;
  const isBelow = stage && disabled.at.line > stage.at.line;
  return `switch on "${builtin}" at line ${disabled.at.line}${isBelow ? ' and move it above' : ''}`;
}

/** Two alternatives of an entry, one of which provides a key. */
export interface Partly {
  readonly by: OrderedStage;
  readonly without: OrderedStage;
}

/** Error for a key that only some alternatives above the stage provide. */
export function partly(
  stage: OrderedStage,
  { key, why }: Need,
  alternatives: Partly,
  operation: Operation,
): OrderError {
  return { key, stage, operation, head: `needs "${key}"${why}`, tail: partlyTail(alternatives) };
}

function partlyTail({ by, without }: Partly): string {
  const lacking = `its alternative "${without.name}" at line ${without.at.line} does not`;
  return `, which "${by.name}" at line ${by.at.line} provides and ${lacking}; let every alternative provide it`;
}

/** Error for a stage that not all requests pass, and that is the first to provide a key. */
export function introduced(stage: OrderedStage, key: StateKey, operation: Operation): OrderError {
  const tail = stage.group
    ? ', which would be missing for requests that no alternative takes; let the last alternative take these too'
    : `, which would be missing for requests that its "when" excludes; remove its "when"`;
  return { key, stage, operation, head: `is the first to provide "${key}"`, tail };
}

/** Error for a stage that may be skipped, though a key that it is the first to provide is needed after it. */
export function unskippable(
  stage: OrderedStage,
  key: StateKey,
  operation: Operation,
  by: OrderedStage | undefined,
): OrderError {
  const needs = by ? `"${by.name}" at line ${by.at.line} needs` : 'every answer needs';
  const tail = `, which ${needs}: requests cannot continue without it; remove its "onError: skip"`;
  return { key, stage, operation, head: `is the first to provide "${key}"`, tail };
}

/** Error for a stage that provides a key again without reading it. */
export function repeated(
  stage: OrderedStage,
  key: StateKey,
  first: OrderedStage,
  operation: Operation,
): OrderError {
  const replacing =
    first.name === stage.name ? '' : `, or let it require "${key}" if it is meant to replace it`;
  const tail = `, which "${first.name}" at line ${first.at.line} already provides; keep one of them${replacing}`;
  return { key, stage, operation, head: `provides "${key}"`, tail };
}

/** Error for a stage that replaces a key after another stage has sealed it. */
export function replaced(
  stage: OrderedStage,
  key: StateKey,
  by: OrderedStage,
  operation: Operation,
): OrderError {
  const isCall = key === 'interceptors';
  const head = isCall ? 'intercepts the call of the model' : `replaces "${key}"`;
  const tail = `, which "${by.name}" at line ${by.at.line} has ${isCall ? 'made' : 'used'} by then; move it above that line`;
  return { key, stage, operation, head, tail };
}

/** Error for a stage that no request passes. */
export function never(stage: OrderedStage): OrderError {
  const tail = `: it is for ${stage.operations.join(', ') || 'no'} requests, which its when.operation excludes`;
  return { key: undefined, stage, operation: undefined, head: 'never runs', tail };
}
