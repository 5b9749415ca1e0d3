import type { Problem } from '../config/config.js';
import { operations } from '../config/schema.js';
import { coreKeys, type Operation, type StateKey } from '../plugin/index.js';
import {
  conditionNeeds,
  introduces,
  isThere,
  needsOf,
  operationsOf,
  ownOperations,
  type Need,
  type Order,
  type OrderedStage,
} from './order-stage.js';
import * as words from './order-words.js';

/** State keys that the core requires after the last stage (design §4). */
const wanted: Readonly<Record<Operation, readonly StateKey[]>> = {
  generate: ['response'],
  'count-tokens': ['response'],
  models: ['caller'],
  usage: ['caller'],
  'stored-response': ['caller'],
  other: [],
};

/** Problems of the stage order, each reported once for all operations that it concerns (design §4). */
export function checkOrder(order: Order): readonly Problem[] {
  const findings = operations.flatMap((operation) => walk(order, operation));
  return words.toProblems([...findIdle(order), ...findings], order);
}

/** State of one operation's walk down the stages. */
interface Way {
  readonly order: Order;
  readonly operation: Operation;
  /** The stages that it passes. */
  readonly stages: readonly OrderedStage[];
  readonly provided: Set<StateKey>;
  /** The stage that gave a key its first value. */
  readonly introducedBy: Map<StateKey, OrderedStage>;
  readonly sealedBy: Map<StateKey, OrderedStage>;
}

function walk(order: Order, operation: Operation): readonly words.Finding[] {
  const stages = order.stages.filter((stage) => operationsOf(stage, order).includes(operation));
  const provided = new Set<StateKey>(coreKeys);
  const way: Way = { order, operation, stages, provided, introducedBy: new Map(), sealedBy: new Map() };
  const findings = stages.flatMap((stage, at) => pass(way, stage, at));
  const isOpen = stages.some(({ isUnknown }) => isUnknown);
  const told = new Set(findings.map(({ key }) => key));
  const absent = wanted[operation].filter((key) => !isOpen && !way.provided.has(key) && !told.has(key));
  return [...findings, ...absent.map((key) => words.unanswered(order, key, operation))];
}

function pass(way: Way, stage: OrderedStage, at: number): readonly words.Finding[] {
  const isOpen = way.stages.slice(0, at).some(({ isUnknown }) => isUnknown);
  const lacks = (key: StateKey) => !isOpen && !way.provided.has(key);
  const missing = needsOf(stage).filter(({ key }) => lacks(key));
  const introduced = isConditional(stage) ? stage.provides.filter(lacks) : [];
  const used = stage.seals.filter((key) => !lacks(key) || stage.provides.includes(key));
  const findings = [
    ...missing.map((need) => findMissing(way, stage, at, need)),
    ...introduced.map((key) => words.introduced(stage, key, way.operation)),
    ...(findRepeated(way, stage) ?? findReplaced(way, stage)),
  ];
  for (const key of stage.provides) {
    if (introduces(stage, key) && !way.provided.has(key)) way.introducedBy.set(key, stage);
    way.provided.add(key);
  }
  for (const key of used) way.sealedBy.set(key, stage);
  return findings;
}

/** True if requests of one operation may pass the stage or skip it. */
function isConditional({ when }: OrderedStage): boolean {
  return when !== undefined && Boolean(when.format ?? when.model ?? when.caller);
}

/** A key that nothing at all provides is missed once: its cure helps all the stages below. */
function findMissing(way: Way, stage: OrderedStage, at: number, need: Need): words.Finding {
  const below = way.stages.slice(at + 1).find((other) => introduces(other, need.key));
  if (!below) way.provided.add(need.key);
  return words.missing(way.order, stage, need, way.operation, below);
}

/**
 * Finds a stage that provides a key again without reading its value, which makes the stage before it useless.
 */
function findRepeated(
  { introducedBy, operation }: Way,
  stage: OrderedStage,
): readonly words.Finding[] | undefined {
  if (isConditional(stage)) return undefined;
  const key = stage.provides.find((provided) => introduces(stage, provided) && introducedBy.has(provided));
  const first = key && introducedBy.get(key);
  return first && [words.repeated(stage, key, first, operation)];
}

function findReplaced({ sealedBy, operation }: Way, stage: OrderedStage): readonly words.Finding[] {
  return stage.provides.flatMap((key) => {
    const by = sealedBy.get(key);
    return by ? [words.replaced(stage, key, by, operation)] : [];
  });
}

/** Stages that no request passes. */
function findIdle(order: Order): readonly words.Finding[] {
  return order.stages
    .filter((stage) => operationsOf(stage, order).length === 0)
    .map((stage) => {
      const need =
        ownOperations(stage).length > 0 && conditionNeeds(stage).find(({ key }) => !isThere(key, order));
      return need ? words.missing(order, stage, need) : words.never(stage);
    });
}
