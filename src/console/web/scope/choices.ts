import { useEffect, useState } from 'preact/hooks';
import { fetchKeyNames, fetchModels, fetchSlotNames, fetchTeamNames } from '../api/names.js';
import { useResource } from '../state/use-resource.js';
import type { Option } from '../ui/select.js';

export interface Choices {
  readonly key: readonly Option<string>[];
  readonly team: readonly Option<string>[];
  readonly slot: readonly Option<string>[];
  readonly model: readonly Option<string>[];
}

/** Keys, teams, slots and models to choose from, loaded once the page has had time for its content. */
export function useChoices(): Choices {
  const isIdle = useIdle();
  const { data } = useResource(`choices ${isIdle}`, async (signal) => {
    if (!isIdle) return undefined;
    const [keys, teams, slots, models] = await Promise.all([
      fetchKeyNames(signal),
      fetchTeamNames(signal),
      fetchSlotNames(signal),
      fetchModels(signal),
    ]);
    return { keys, teams, slots, models };
  });
  const { keys = [], teams = [], slots = [], models = [] } = data ?? {};
  return {
    key: keys.map(({ id, name, last4 }) => ({ value: id, text: `${name} …${last4}` })),
    team: teams.map(({ id, name }) => ({ value: id, text: name })),
    slot: slots.map(({ id }) => ({ value: id, text: id })),
    model: models.map(({ id }) => ({ value: id, text: id })),
  };
}

const idleMs = 400;

/** True from a moment after the first rendering on. */
function useIdle(): boolean {
  const [isIdle, setIdle] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIdle(true), idleMs);
    return () => clearTimeout(timer);
  }, []);
  return isIdle;
}
