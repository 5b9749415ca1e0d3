import type { Position, When } from '../config/config.js';
import type { Operation, StateKey } from '../plugin/internal.js';

/** Declaration of a plugin's state keys. */
export interface Provider {
  readonly name: string;
  readonly requires: readonly StateKey[];
  readonly provides: readonly StateKey[];
}

/** A stage as the order check sees it. */
export interface OrderedStage extends Provider {
  readonly seals: readonly StateKey[];
  readonly operations: readonly Operation[];
  readonly when: When | undefined;
  /** It could not be loaded, so it may provide anything. */
  readonly isUnknown: boolean;
  readonly path: string;
  readonly at: Position;
}

export interface Order {
  /** Enabled stages, in the order of the config. */
  readonly stages: readonly OrderedStage[];
  /** Config position for a problem of the pipeline as a whole. */
  readonly at: Position;
  /** Disabled stages: to enable one may be the cure for a missing key. */
  readonly off: readonly { readonly use: string; readonly at: Position }[];
  /** Built-in plugins, to suggest one that provides a missing key. */
  readonly builtins: readonly Provider[];
}

/** A key that a stage cannot do without. */
export interface Need {
  readonly key: StateKey;
  /** ` for its when.model`, or nothing. */
  readonly why: string;
}

/** True for a stage that gives a key its first value, not for one that replaces it. */
export function introduces({ provides, requires }: Provider, key: StateKey): boolean {
  return provides.includes(key) && !requires.includes(key);
}

/** State keys that must be provided above the stage. */
export function needsOf(stage: OrderedStage): readonly Need[] {
  return [...stage.requires.map((key) => ({ key, why: '' })), ...conditionNeeds(stage)];
}

export function conditionNeeds({ when }: OrderedStage): readonly Need[] {
  return [
    ...(when?.model ? [{ key: 'request' as const, why: ' for its when.model' }] : []),
    ...(when?.caller ? [{ key: 'caller' as const, why: ' for its when.caller' }] : []),
  ];
}

/** Operations of the stage, without those that never have the key its conditions need. */
export function operationsOf(stage: OrderedStage, order: Order): readonly Operation[] {
  return ownOperations(stage).filter((operation) =>
    conditionNeeds(stage).every(({ key }) => isThere(key, order, operation)),
  );
}

/** Operations of the stage, ignoring `when.model` and `when.caller`. */
export function ownOperations({ operations, when }: OrderedStage): readonly Operation[] {
  return operations.filter((operation) => when?.operation?.includes(operation) ?? true);
}

/** True if any stage provides the key, above or below. */
export function isThere(key: StateKey, { stages }: Order, operation?: Operation): boolean {
  return stages.some(
    (stage) =>
      stage.isUnknown ||
      (stage.provides.includes(key) && (!operation || ownOperations(stage).includes(operation))),
  );
}
