import { panel } from '../../api/panel.js';
import { useResource } from '../../state/use-resource.js';

/** All teams, by name. */
export function useTeams() {
  return useResource('teams', (signal) => panel.teams(signal), 15_000);
}
