import type { Position, When } from '../config/config.js';
import type { Operation, StateKey } from '../plugin/index.js';

/** What a plugin says about the keys of the state. */
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
  /** Those that are switched on, as they stand in the config. */
  readonly stages: readonly OrderedStage[];
  /** Where a problem of the pipeline as a whole is shown. */
  readonly at: Position;
  /** Those that are switched off: a missing key may only need one of them. */
  readonly off: readonly { readonly use: string; readonly at: Position }[];
  /** For the name of a plugin that provides what is missing. */
  readonly builtins: readonly Provider[];
}

/** A key that a stage cannot do without. */
export interface Need {
  readonly key: StateKey;
  /** ` for its when.model`, or nothing. */
  readonly why: string;
}

/** True for what gives a key its first value, not for what replaces it. */
export function introduces({ provides, requires }: Provider, key: StateKey): boolean {
  return provides.includes(key) && !requires.includes(key);
}

/** All that must be there above it. */
export function needsOf(stage: OrderedStage): readonly Need[] {
  return [...stage.requires.map((key) => ({ key, why: '' })), ...conditionNeeds(stage)];
}

export function conditionNeeds({ when }: OrderedStage): readonly Need[] {
  return [
    ...(when?.model ? [{ key: 'request' as const, why: ' for its when.model' }] : []),
    ...(when?.caller ? [{ key: 'caller' as const, why: ' for its when.caller' }] : []),
  ];
}

/** A condition on a key that requests of a kind never have leaves the stage out for them. */
export function operationsOf(stage: OrderedStage, order: Order): readonly Operation[] {
  return ownOperations(stage).filter((operation) =>
    conditionNeeds(stage).every(({ key }) => isThere(key, order, operation)),
  );
}

/** What it would pass for if its conditions could be asked. */
export function ownOperations({ operations, when }: OrderedStage): readonly Operation[] {
  return operations.filter((operation) => when?.operation?.includes(operation) ?? true);
}

/** Whether any stage provides a key, wherever it stands. */
export function isThere(key: StateKey, { stages }: Order, operation?: Operation): boolean {
  return stages.some(
    (stage) =>
      stage.isUnknown ||
      (stage.provides.includes(key) && (!operation || ownOperations(stage).includes(operation))),
  );
}
