import type { ConfigProblem } from '../../../config/config.js';
import { operations } from '../../../config/stage-schema.js';
import { coreKeys, type StateKey } from '../../../plugin/core.js';
import type { Operation } from '../../../plugin/index.js';
import { stepsOf } from '../../../config/pipelines/steps.js';
import { conditionNeeds, isConditional, type Need } from './conditions.js';
import {
  introduces,
  isThere,
  needsOf,
  operationsOf,
  ownOperations,
  type Order,
  type OrderedStage,
} from './order-stage.js';
import * as errors from './order-errors.js';

/** State keys that the core requires after the last stage. */
const wanted: Readonly<Record<Operation, readonly StateKey[]>> = {
  generate: ['response'],
  'count-tokens': ['response'],
  models: ['caller'],
  usage: ['caller'],
  route: ['caller'],
  other: [],
};

/** Problems of the stage order, each reported once for all operations that it concerns. */
export function checkOrder(order: Order): readonly ConfigProblem[] {
  const found = operations.flatMap((operation) => walk(order, operation));
  return errors.toProblems([...findIdle(order), ...found], order);
}

/** State of one operation's walk down the stages. */
interface Walk {
  readonly order: Order;
  readonly operation: Operation;
  readonly provided: Set<StateKey>;
  /** The stage that gave a key its first value. */
  readonly introducedBy: Map<StateKey, OrderedStage>;
  /** Keys that some alternatives of an entry provide, and others do not. */
  readonly partly: Map<StateKey, errors.Partly>;
  readonly sealedBy: Map<StateKey, OrderedStage>;
}

/** A step of the walk, with the stages of those above and below it. */
interface Step {
  readonly above: readonly OrderedStage[];
  readonly below: readonly OrderedStage[];
  /** True if some requests of the operation pass no stage of it. */
  readonly mayBeSkipped: boolean;
}

function walk(order: Order, operation: Operation): readonly errors.OrderError[] {
  const stages = order.stages.filter((stage) => operationsOf(stage, order).includes(operation));
  const state: Walk = {
    order,
    operation,
    provided: new Set<StateKey>(coreKeys),
    introducedBy: new Map(),
    partly: new Map(),
    sealedBy: new Map(),
  };
  let count = 0;
  const found = stepsOf(stages).flatMap((step) => {
    const above = stages.slice(0, count);
    count += step.length;
    return passStep(state, step, above, stages.slice(count));
  });
  const reported = new Set(found.map(({ key }) => key));
  const absent = wanted[operation].filter((key) => lacks(state, key, stages) && !reported.has(key));
  return [...found, ...absent.map((key) => errors.unanswered(state, key))];
}

function passStep(
  state: Walk,
  stages: readonly OrderedStage[],
  above: readonly OrderedStage[],
  below: readonly OrderedStage[],
): readonly errors.OrderError[] {
  const reached = reachedOf(stages, state.operation);
  const takesAll = reached.some(({ when }) => !isConditional(when, state.operation));
  const mayBeSkipped = !takesAll && reached[0]?.group?.isComplete !== false;
  const branches = reached.map(() => branchOf(state));
  const found = reached.flatMap((stage, at) =>
    pass(branches[at] ?? state, stage, { above, below, mayBeSkipped }),
  );
  join(state, reached, branches);
  return found;
}

/** Alternatives that requests of an operation reach: those down to the first that takes all of them. */
function reachedOf(stages: readonly OrderedStage[], operation: Operation): readonly OrderedStage[] {
  const last = stages.findIndex(({ when }) => !isConditional(when, operation));
  return last < 0 ? stages : stages.slice(0, last + 1);
}

function branchOf({ order, operation, provided, introducedBy, partly, sealedBy }: Walk): Walk {
  return {
    order,
    operation,
    provided: new Set(provided),
    introducedBy: new Map(introducedBy),
    partly: new Map(partly),
    sealedBy: new Map(sealedBy),
  };
}

/** Takes over the common part of all branches; each branch is that of one stage. */
function join(state: Walk, stages: readonly OrderedStage[], branches: readonly Walk[]): void {
  for (const [at, branch] of branches.entries()) {
    for (const key of branch.provided) {
      const other = branches.findIndex(({ provided }) => !provided.has(key));
      const [by, without] = [stages[at], stages[other]];
      if (!without) state.provided.add(key);
      else if (by) state.partly.set(key, { by, without });
    }
    for (const [key, by] of branch.introducedBy)
      if (branches.every(({ provided }) => provided.has(key)) && !state.introducedBy.has(key))
        state.introducedBy.set(key, by);
    for (const [key, by] of branch.sealedBy)
      if (branches.every(({ sealedBy }) => sealedBy.has(key))) state.sealedBy.set(key, by);
  }
}

function pass(state: Walk, stage: OrderedStage, step: Step): readonly errors.OrderError[] {
  const isMissing = (key: StateKey) => lacks(state, key, step.above);
  const missing = needsOf(stage).filter(({ key }) => isMissing(key));
  const introduced = step.mayBeSkipped ? stage.provides.filter(isMissing) : [];
  const sealed = stage.seals.filter((key) => !isMissing(key) || stage.provides.includes(key));
  const found = [
    ...missing.map((need) => findMissing(state, stage, step, need)),
    ...introduced.map((key) => errors.introduced(stage, key, state.operation)),
    ...findUnskippable(state, stage, step, stage.provides.filter(isMissing)),
    ...(findRepeated(state, stage) ?? findReplaced(state, stage)),
  ];
  for (const key of stage.provides) {
    if (introduces(stage, key) && !state.provided.has(key)) state.introducedBy.set(key, stage);
    state.provided.add(key);
  }
  for (const key of sealed) state.sealedBy.set(key, stage);
  return found;
}

/** Finds a key that a stage with `onError: skip` is the first to provide, and that is needed after it. */
function findUnskippable(
  { operation }: Walk,
  stage: OrderedStage,
  { below }: Step,
  introduced: readonly StateKey[],
): readonly errors.OrderError[] {
  if (!stage.skipsErrors) return [];
  return introduced.flatMap((key) => {
    const by = below.find((other) => needsOf(other).some((need) => need.key === key));
    return by || wanted[operation].includes(key) ? [errors.unskippable(stage, key, operation, by)] : [];
  });
}

/** True if none of the stages passed so far provides the key; an unknown stage may provide any. */
function lacks({ provided }: Walk, key: StateKey, passed: readonly OrderedStage[]): boolean {
  return !provided.has(key) && !passed.some(({ isUnknown }) => isUnknown);
}

/** Reports a missing key; one that no stage provides at all is reported once for all the stages below. */
function findMissing(state: Walk, stage: OrderedStage, { below }: Step, need: Need): errors.OrderError {
  const later = below.find((other) => introduces(other, need.key));
  const partly = state.partly.get(need.key);
  if (!later || partly) state.provided.add(need.key);
  return partly
    ? errors.partly(stage, need, partly, state.operation)
    : errors.missing(state.order, stage, need, state.operation, later);
}

/**
 * Finds a stage that provides a key again without reading its value, which makes the stage before it useless.
 */
function findRepeated(
  { introducedBy, operation }: Walk,
  stage: OrderedStage,
): readonly errors.OrderError[] | undefined {
  if (isConditional(stage.when, operation)) return undefined;
  const isNew = (key: StateKey): boolean => introduces(stage, key) && !stage.reads?.includes(key);
  const key = stage.provides.find((provided) => isNew(provided) && introducedBy.has(provided));
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
        ownOperations(stage).length > 0 && conditionNeeds(stage.when).find(({ key }) => !isThere(key, order));
      return need ? errors.missing(order, stage, need) : errors.never(stage);
    });
}
