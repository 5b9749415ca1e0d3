import type { ConfigProblem } from '../config/config.js';
import { operations } from '../config/schema.js';
import { coreKeys, type Operation, type StateKey } from '../plugin/internal.js';
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
import * as errors from './order-errors.js';

/** State keys that the core requires after the last stage (design §4). */
const wanted: Readonly<Record<Operation, readonly StateKey[]>> = {
  generate: ['response'],
  'count-tokens': ['response'],
  models: ['caller'],
  usage: ['caller'],
  route: ['caller'],
  other: [],
};

/** Problems of the stage order, each reported once for all operations that it concerns (design §4). */
export function checkOrder(order: Order): readonly ConfigProblem[] {
  const found = operations.flatMap((operation) => walk(order, operation));
  return errors.toProblems([...findIdle(order), ...found], order);
}

/** State of one operation's walk down the stages. */
interface Walk {
  readonly order: Order;
  readonly operation: Operation;
  /** The stages that it passes. */
  readonly stages: readonly OrderedStage[];
  readonly provided: Set<StateKey>;
  /** The stage that gave a key its first value. */
  readonly introducedBy: Map<StateKey, OrderedStage>;
  readonly sealedBy: Map<StateKey, OrderedStage>;
}

function walk(order: Order, operation: Operation): readonly errors.OrderError[] {
  const stages = order.stages.filter((stage) => operationsOf(stage, order).includes(operation));
  const provided = new Set<StateKey>(coreKeys);
  const state: Walk = { order, operation, stages, provided, introducedBy: new Map(), sealedBy: new Map() };
  const found = stages.flatMap((stage, at) => pass(state, stage, at));
  const reported = new Set(found.map(({ key }) => key));
  const absent = wanted[operation].filter((key) => lacks(state, key, stages) && !reported.has(key));
  return [...found, ...absent.map((key) => errors.unanswered(order, key, operation))];
}

function pass(state: Walk, stage: OrderedStage, at: number): readonly errors.OrderError[] {
  const isMissing = (key: StateKey) => lacks(state, key, state.stages.slice(0, at));
  const missing = needsOf(stage).filter(({ key }) => isMissing(key));
  const introduced = isConditional(stage) ? stage.provides.filter(isMissing) : [];
  const sealed = stage.seals.filter((key) => !isMissing(key) || stage.provides.includes(key));
  const found = [
    ...missing.map((need) => findMissing(state, stage, at, need)),
    ...introduced.map((key) => errors.introduced(stage, key, state.operation)),
    ...(findRepeated(state, stage) ?? findReplaced(state, stage)),
  ];
  for (const key of stage.provides) {
    if (introduces(stage, key) && !state.provided.has(key)) state.introducedBy.set(key, stage);
    state.provided.add(key);
  }
  for (const key of sealed) state.sealedBy.set(key, stage);
  return found;
}

/** True if none of the stages passed so far provides the key; an unknown stage may provide any. */
function lacks({ provided }: Walk, key: StateKey, passed: readonly OrderedStage[]): boolean {
  return !provided.has(key) && !passed.some(({ isUnknown }) => isUnknown);
}

/** True if requests of one operation may pass the stage or skip it. */
function isConditional({ when }: OrderedStage): boolean {
  return when !== undefined && Boolean(when.format ?? when.model ?? when.caller);
}

/** Reports a missing key; one that no stage provides at all is reported once for all the stages below. */
function findMissing(state: Walk, stage: OrderedStage, at: number, need: Need): errors.OrderError {
  const below = state.stages.slice(at + 1).find((other) => introduces(other, need.key));
  if (!below) state.provided.add(need.key);
  return errors.missing(state.order, stage, need, state.operation, below);
}

/**
 * Finds a stage that provides a key again without reading its value, which makes the stage before it useless.
 */
function findRepeated(
  { introducedBy, operation }: Walk,
  stage: OrderedStage,
): readonly errors.OrderError[] | undefined {
  if (isConditional(stage)) return undefined;
  const key = stage.provides.find((provided) => introduces(stage, provided) && introducedBy.has(provided));
  const first = key && introducedBy.get(key);
  return first && [errors.repeated(stage, key, first, operation)];
}

function findReplaced({ sealedBy, operation }: Walk, stage: OrderedStage): readonly errors.OrderError[] {
  return stage.provides.flatMap((key) => {
    const by = sealedBy.get(key);
    return by ? [errors.replaced(stage, key, by, operation)] : [];
  });
}

/** Stages that no request passes. */
function findIdle(order: Order): readonly errors.OrderError[] {
  return order.stages
    .filter((stage) => operationsOf(stage, order).length === 0)
    .map((stage) => {
      const need =
        ownOperations(stage).length > 0 && conditionNeeds(stage).find(({ key }) => !isThere(key, order));
      return need ? errors.missing(order, stage, need) : errors.never(stage);
    });
}
