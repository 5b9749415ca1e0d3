import type { Checked } from './checked.js';
import { locate, type Fault, type Source, type SourceProblem } from './document.js';
import { listenFaults, portFaults } from './listen.js';
import { liveFaults } from './live.js';
import type { RawConfig, RawSlot } from './schema.js';
import { duplicateSlots, slotFaults } from './slots.js';
import { storeFaults } from './store.js';
import type { Environment } from './substitute.js';

/** Rules that a schema cannot express, checked on the parts that are sound. */
export function ruleProblems(
  raw: RawConfig,
  source: Source,
  env: Environment,
  { isSound }: Checked,
): readonly SourceProblem[] {
  const slots: readonly (RawSlot | null)[] = Array.isArray(raw.slots) ? raw.slots : [];
  const sections: readonly (readonly Fault[])[] = [
    portFaults(env),
    isSound(['listen']) ? listenFaults(raw.listen, raw.store) : [],
    isSound(['store']) ? storeFaults(raw.store) : [],
    isSound(['live']) ? liveFaults(raw.live) : [],
    isSound(['officialClient']) ? patternFaults(raw.officialClient) : [],
    slots.flatMap((slot, at) => (slot ? slotFaults(slot, at, isSound) : [])),
    duplicateSlots(
      slots.map((slot) => slot?.id),
      source,
    ),
  ];
  return locate(sections.flat(), source);
}

function patternFaults({ userAgent }: RawConfig['officialClient']): readonly Fault[] {
  try {
    return RegExp(userAgent) && [];
  } catch (error) {
    const message = `must be a regular expression: ${error instanceof Error ? error.message : String(error)}`;
    return [{ path: ['officialClient', 'userAgent'], message }];
  }
}
