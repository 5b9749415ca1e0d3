import { coreKeys } from '../../../plugin/core.js';
import type { Caller, ModelReply } from '../../../plugin/index.js';
import type { StateChange } from '../explanation.js';
import { concealed, shown } from '../../dry-run/shown.js';

type State = Readonly<Record<string, unknown>>;

/** Keys that are not a stage's, and the request, whose changes are shown by themselves. */
const ownKeys: ReadonlySet<string> = new Set(
  [...coreKeys, 'request', 'clientRequest'].filter((key) => key !== 'additions'),
);

/** Keys of a request's state, and their values, as one stage has left them. */
export class StateKeys {
  #known: ReadonlyMap<string, unknown> = new Map();

  /** Forgets who has changed what until now. */
  adopt(state: State): void {
    this.#known = valuesOf(state);
  }

  /** Changes since the last call of this or of `adopt`. */
  changes(state: State): readonly StateChange[] {
    const before = this.#known;
    const after = valuesOf(state);
    this.#known = after;
    const changes: StateChange[] = [];
    for (const [key, value] of after)
      if (!before.has(key)) changes.push({ key, change: 'set', ...valueOf(key, value) });
      else if (before.get(key) !== value) changes.push({ key, change: 'changed', ...valueOf(key, value) });
    for (const key of before.keys()) if (!after.has(key)) changes.push({ key, change: 'removed' });
    return changes;
  }
}

function valuesOf(state: State): ReadonlyMap<string, unknown> {
  const keys = Object.keys(state).filter((key) => !ownKeys.has(key) && state[key] !== undefined);
  return new Map(keys.map((key) => [key, state[key]]));
}

/** Views of the values of known keys; of others numbers and booleans are shown, as a text may be a secret. */
const views: Readonly<Record<string, (value: never) => unknown>> = {
  caller: ({ kind, keyId, name }: Caller) => ({ kind, keyId, name }),
  reply: ({ status, model, slot, attempts }: ModelReply) => ({ status, model, slot, attempts }),
  additions: ({ system, tools }: { system: readonly object[]; tools: readonly { name: string }[] }) => ({
    system: system.length,
    tools: tools.map(({ name }) => name),
  }),
  delivery: (delivery: string) => delivery,
  count: ({ inputTokens }: { inputTokens: number }) => inputTokens,
};

function valueOf(key: string, value: unknown): { readonly value?: unknown } {
  const view = Object.hasOwn(views, key) ? views[key] : undefined;
  if (view) return { value: shown(JSON.parse(JSON.stringify(view(value as never)))) }; // the core's own shapes
  if (typeof value === 'string') return { value: concealed(value) };
  return ['number', 'boolean'].includes(typeof value) ? { value } : {};
}
