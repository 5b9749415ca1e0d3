import type { Problem } from '../config/config.js';
import { coreKeys, didYouMean, type Operation, type StateKey } from '../plugin/index.js';
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
  /** The built-in whose absence this is. */
  readonly lacks?: string | undefined;
}

/**
 * Findings as problems, without duplicates; a missing built-in is reported only where it is first missing.
 */
export function toProblems(findings: readonly Finding[], order: Order): readonly Problem[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const same = JSON.stringify([finding.stage?.path, finding.head, finding.tail]);
    groups.set(same, [...(groups.get(same) ?? []), finding]);
  }
  const place = ({ stage }: Finding) => (stage ? order.stages.indexOf(stage) : order.stages.length);
  const told = new Set<string>();
  return [...groups.values()]
    .toSorted(([a], [b]) => (a && b ? place(a) - place(b) : 0))
    .filter(([first]) => !first?.lacks || (!told.has(first.lacks) && told.add(first.lacks)))
    .flatMap((group) => toProblem(group, order));
}

/** The kinds of request are named where the stage passes others too. */
function toProblem(group: readonly Finding[], order: Order): readonly Problem[] {
  const [first] = group;
  if (!first) return [];
  const { stage, head, tail } = first;
  const concerned = group.flatMap(({ operation }) => operation ?? []);
  const isAll = concerned.length === 0 || (stage && concerned.length === operationsOf(stage, order).length);
  const message = `${head}${isAll ? '' : ` for ${enumerate(concerned)}`}${tail}`;
  if (stage) return [{ at: stage.at, path: stage.path, subject: stage.name, message }];
  return [{ at: order.at, path: 'pipeline', message }];
}

function enumerate(names: readonly string[]): string {
  return names.join(', ').replace(/, ([^,]*)$/, ' and $1');
}

/** A stage lacks a key, which `below` provides too late, or nothing at all. */
export function missing(
  order: Order,
  stage: OrderedStage,
  { key, why }: Need,
  operation?: Operation,
  below?: OrderedStage,
): Finding {
  const head = `needs "${key}"${why}`;
  const place = `"${below?.name}" provides only at line ${below?.at.line}`;
  if (below) return { key, stage, operation, head, tail: `, which ${place}; move it below` };
  return { key, stage, operation, head, ...absence(order, key, operation, stage) };
}

/** The core lacks a key once all stages have been passed. */
export function unanswered(order: Order, key: StateKey, operation: Operation): Finding {
  return {
    key,
    stage: undefined,
    operation,
    head: `must provide "${key}"`,
    ...absence(order, key, operation),
  };
}

/** Cure for a key that no stage provides to these requests; `stage` is the one that requires it. */
function absence(
  order: Order,
  key: StateKey,
  operation: Operation | undefined,
  stage?: OrderedStage,
): Pick<Finding, 'tail' | 'lacks'> {
  const other = order.stages.find(
    (one) => introduces(one, key) && operation && !ownOperations(one).includes(operation),
  );
  if (other)
    return {
      tail: `, which "${other.name}" at line ${other.at.line} provides only for other requests; let it pass these too`,
    };
  const lacks = order.builtins.find((builtin) => introduces(builtin, key))?.name;
  const meant = lacks ? undefined : didYouMean(key, knownKeys(order));
  const what = meant ? `did you mean "${meant}"?` : cure(order, key, lacks, stage);
  return { tail: `, which no stage provides; ${what}`, lacks };
}

function knownKeys({ stages, builtins }: Order): readonly string[] {
  return [...coreKeys, ...[...builtins, ...stages].flatMap(({ provides }) => provides)];
}

function cure({ off }: Order, key: StateKey, lacks: string | undefined, stage?: OrderedStage): string {
  const place = stage ? ' above it' : key === 'response' ? ' as the last stage' : '';
  if (!lacks) return `add a plugin that does${place}`;
  const there = off.find(({ use }) => use === lacks);
  if (!there) return `add "- use: ${lacks}"${place}`;
  const isBelow = stage && there.at.line > stage.at.line;
  return `switch on "${lacks}" at line ${there.at.line}${isBelow ? ' and move it above' : ''}`;
}

/** A conditional stage is the first to provide a key. */
export function introduced(stage: OrderedStage, key: StateKey, operation: Operation): Finding {
  const tail = `, which requests that its "when" leaves out would lack; drop its "when"`;
  return { key, stage, operation, head: `is the first to provide "${key}"`, tail };
}

/** A stage repeats a key that another one has provided already. */
export function repeated(
  stage: OrderedStage,
  key: StateKey,
  first: OrderedStage,
  operation: Operation,
): Finding {
  const replacing = first.name === stage.name ? '' : `, or let it require "${key}" where it is to replace it`;
  const tail = `, which "${first.name}" at line ${first.at.line} has provided already; keep one of them${replacing}`;
  return { key, stage, operation, head: `provides "${key}"`, tail };
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
