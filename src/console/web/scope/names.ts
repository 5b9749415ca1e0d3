import { fetchKeyNames, fetchTeamNames } from '../api/names.js';
import { useResource } from '../state/use-resource.js';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Name of a key or a team by its id, which is shown until the names are loaded, and for a deleted one. */
export function useNames(of: 'keys' | 'teams', isNeeded: boolean): (id: string) => string {
  const { data = [] } = useResource<readonly Named[]>(`names of ${of} ${isNeeded}`, async (signal) =>
    isNeeded ? fetchNames[of](signal) : [],
  );
  return (id) => data.find((one) => one.id === id)?.name ?? id;
}

const fetchNames = { keys: fetchKeyNames, teams: fetchTeamNames };
