import { panel } from '../api/panel.js';
import { useResource } from '../state/use-resource.js';

/** Name of a key by its id, which is shown until the names are loaded, and for a deleted key. */
export function useKeyNames(isNeeded: boolean): (id: string) => string {
  const { data = [] } = useResource(`key names ${isNeeded}`, async (signal) =>
    isNeeded ? panel.keys(signal) : [],
  );
  return (id) => data.find((key) => key.id === id)?.name ?? id;
}
