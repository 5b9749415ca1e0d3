import type { Position, StageGroup, When } from '../../../config/config.js';
import type { Operation } from '../../../plugin/index.js';
import type { StateKey } from '../../../plugin/core.js';
import { conditionNeeds, leavesOut, type Need } from './conditions.js';

/** Declaration of a plugin's state keys. */
export interface Provider {
  readonly name: string;
  readonly requires: readonly StateKey[];
  readonly provides: readonly StateKey[];
}

/** A stage as the order check sees it. */
export interface OrderedStage extends Provider {
  readonly reads?: readonly StateKey[];
  readonly seals: readonly StateKey[];
  readonly operations: readonly Operation[];
  readonly when: When | undefined;
  /** Set for alternatives; the same in those of one entry. */
  readonly group: StageGroup | undefined;
  /** True if requests continue without it on failure. */
  readonly skipsErrors: boolean;
  /** True if it could not be loaded, and so may provide anything. */
  readonly isUnknown: boolean;
  readonly path: string;
  readonly at: Position;
}

export interface Order {
  /** Enabled stages, in the order of the config. */
  readonly stages: readonly OrderedStage[];
  /** Config position for a problem of the pipeline as a whole. */
  readonly at: Position;
  /** Disabled stages: enabling one may fix a missing key. */
  readonly off: readonly { readonly use: string; readonly at: Position }[];
  /** Built-in plugins, to suggest one that provides a missing key. */
  readonly builtins: readonly Provider[];
}

/** True for a stage that gives a key its first value, not for one that replaces it. */
export function introduces({ provides, requires }: Provider, key: StateKey): boolean {
  return provides.includes(key) && !requires.includes(key);
}

/** State keys that must be provided above the stage. */
export function needsOf({ requires, when }: OrderedStage): readonly Need[] {
  return [...requires.map((key) => ({ key, why: '' })), ...conditionNeeds(when)];
}

/** Operations of the stage, without those that never have the key its conditions need. */
export function operationsOf(stage: OrderedStage, order: Order): readonly Operation[] {
  return ownOperations(stage).filter((operation) =>
    conditionNeeds(stage.when).every(({ key }) => isThere(key, order, operation)),
  );
}

/** Operations of the stage, ignoring the conditions that need a key. */
export function ownOperations({ operations, when }: OrderedStage): readonly Operation[] {
  return operations.filter((operation) => !leavesOut(when, operation));
}

/** True if any stage provides the key, above or below. */
export function isThere(key: StateKey, { stages }: Order, operation?: Operation): boolean {
  return stages.some(
    (stage) =>
      stage.isUnknown ||
      (stage.provides.includes(key) && (!operation || ownOperations(stage).includes(operation))),
  );
}
