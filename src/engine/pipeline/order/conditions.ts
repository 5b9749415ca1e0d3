import type { Conditions, When } from '../../../config/config.js';
import type { Operation } from '../../../plugin/index.js';
import type { StateKey } from '../../../plugin/core.js';

/** A key that a stage requires. */
export interface Need {
  readonly key: StateKey;
  /** ` for its when.model`, or nothing. */
  readonly why: string;
}

/** State keys that conditions read. */
const keyOf: { readonly [Condition in keyof Conditions]?: StateKey } = {
  model: 'request',
  caller: 'caller',
  team: 'caller',
  claim: 'caller',
  stream: 'delivery',
};

/** State keys that must be provided above a stage with these conditions. */
export function conditionNeeds(when: When | undefined): readonly Need[] {
  if (!when) return none;
  return [...needsOf(when, 'when'), ...needsOf(when?.not, 'when.not')];
}

const none: readonly Need[] = [];

function needsOf(conditions: Conditions | undefined, path: string): readonly Need[] {
  if (!conditions) return none;
  return Object.entries(keyOf).flatMap(([name, key]) =>
    namesOf(conditions).includes(name) ? [{ key, why: ` for its ${path}.${name}` }] : [],
  );
}

function namesOf(conditions: Conditions = {}): readonly string[] {
  return Object.keys(conditions).filter((name) => name !== 'not');
}

/** True for an operation whose requests all fail the conditions, by `operation` alone. */
export function leavesOut(when: When | undefined, operation: Operation): boolean {
  if (when?.operation?.includes(operation) === false) return true;
  return namesOf(when?.not).join() === 'operation' && when?.not?.operation?.includes(operation) === true;
}

/** True if only some requests of the operation pass the conditions. */
export function isConditional(when: When | undefined, operation: Operation): boolean {
  if (namesOf(when).some((name) => name !== 'operation')) return true;
  const isExcluded = when?.not?.operation?.includes(operation) ?? true;
  return isExcluded && namesOf(when?.not).some((name) => name !== 'operation');
}

/** Conditions in words, one phrase each: `model is sonnet-* or haiku-5`, `not (caller is red-*)`. */
export function conditionTexts(when: When | undefined): readonly string[] {
  if (!when) return [];
  const { not, ...conditions } = when;
  return [...phrases(conditions), ...(not ? [`not (${phrases(not).join(', ')})`] : [])];
}

function phrases({ header = {}, claim = {}, stream, sample, ...lists }: Conditions): readonly string[] {
  return [
    ...Object.entries(lists).map(([name, values]: [string, readonly string[]]) => phrase(name, values)),
    ...Object.entries(claim).map(([name, globs]) => phrase(`claim ${name}`, globs)),
    ...Object.entries(header).map(([name, globs]) => phrase(`header ${name}`, globs)),
    ...(stream === undefined ? [] : [`stream is ${stream}`]),
    ...(sample === undefined ? [] : [`sample is ${sample}%`]),
  ];
}

function phrase(name: string, values: readonly string[]): string {
  return `${name} is ${values.join(' or ')}`;
}
