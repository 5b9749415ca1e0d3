import type { Problem } from '../config/config.js';
import type { Operation, StateKey } from '../plugin/index.js';
import {
  introduces,
  operationsOf,
  ownOperations,
  type Need,
  type Order,
  type OrderedStage,
} from './order-stage.js';

/** One thing wrong for one kind of request: `<head> for count-tokens<tail>`. */
export interface Finding {
  readonly key: StateKey | undefined;
  /** Undefined for the pipeline as a whole. */
  readonly stage: OrderedStage | undefined;
  /** Undefined for all that the stage passes. */
  readonly operation: Operation | undefined;
  readonly head: string;
  readonly tail: string;
}

/** Findings as problems; those that differ only in the kind of request are one. */
export function toProblems(findings: readonly Finding[], order: Order): readonly Problem[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const { stage, head, tail } = finding;
    const same = JSON.stringify([stage?.path, head, tail]);
    groups.set(same, [...(groups.get(same) ?? []), finding]);
  }
  return [...groups.values()].flatMap((group) => toProblem(group, order));
}

/** The kinds of request are named where the stage passes others too. */
function toProblem(group: readonly Finding[], order: Order): readonly Problem[] {
  const [first] = group;
  if (!first) return [];
  const { stage, head, tail } = first;
  const concerned = group.flatMap(({ operation }) => operation ?? []);
  const isAll = concerned.length === 0 || (stage && concerned.length === operationsOf(stage, order).length);
  const message = `${head}${isAll ? '' : ` for ${concerned.join(' and ')}`}${tail}`;
  if (stage) return [{ at: stage.at, path: stage.path, subject: stage.name, message }];
  return [{ at: order.at, path: 'pipeline', message }];
}

/** A stage lacks a key, which `below` provides too late, or nothing at all. */
export function missing(
  order: Order,
  stage: OrderedStage,
  { key, why }: Need,
  operation?: Operation,
  below?: OrderedStage,
): Finding {
  const tail = below
    ? `, which "${below.name}" provides only at line ${below.at.line}; move it below`
    : `, which ${whence(order, key, operation)}; ${cure(order, key, operation, stage)}`;
  return { key, stage, operation, head: `needs "${key}"${why}`, tail };
}

/** The core lacks a key once all stages have been passed. */
export function unanswered(order: Order, key: StateKey, operation: Operation): Finding {
  const tail = `, which ${whence(order, key, operation)}; ${cure(order, key, operation)}`;
  return { key, stage: undefined, operation, head: `must provide "${key}"`, tail };
}

/** A conditional stage is the first to provide a key. */
export function introduced(stage: OrderedStage, key: StateKey, operation: Operation): Finding {
  const tail = `, which requests that its "when" leaves out would lack; drop its "when"`;
  return { key, stage, operation, head: `is the first to provide "${key}"`, tail };
}

/** A stage replaces a key that another one has used by then. */
export function replaced(
  stage: OrderedStage,
  key: StateKey,
  by: OrderedStage,
  operation: Operation,
): Finding {
  const tail = `, which "${by.name}" at line ${by.at.line} has used by then; move it above that line`;
  return { key, stage, operation, head: `replaces "${key}"`, tail };
}

/** No request passes a stage. */
export function never(stage: OrderedStage): Finding {
  const tail = `: it is for ${stage.operations.join(', ') || 'no'} requests, which its when.operation leaves out`;
  return { key: undefined, stage, operation: undefined, head: 'never runs', tail };
}

/** A stage that provides the key, but not for these requests. */
function elsewhere(
  { stages }: Order,
  key: StateKey,
  operation: Operation | undefined,
): OrderedStage | undefined {
  return stages.find(
    (stage) => introduces(stage, key) && operation && !ownOperations(stage).includes(operation),
  );
}

function whence(order: Order, key: StateKey, operation: Operation | undefined): string {
  const other = elsewhere(order, key, operation);
  return other
    ? `"${other.name}" at line ${other.at.line} provides only for other requests`
    : 'no stage provides';
}

function cure(order: Order, key: StateKey, operation: Operation | undefined, stage?: OrderedStage): string {
  if (elsewhere(order, key, operation)) return 'let it pass these too';
  const provider = order.builtins.find((builtin) => introduces(builtin, key));
  const place = stage ? ' above it' : key === 'response' ? ' as the last stage' : '';
  if (!provider) return `add a plugin that does${place}`;
  const off = order.off.find(({ use }) => use === provider.name);
  if (!off) return `add "- use: ${provider.name}"${place}`;
  const isBelow = stage && off.at.line > stage.at.line;
  return `switch on "${off.use}" at line ${off.at.line}${isBelow ? ' and move it above' : ''}`;
}
