import { panel } from '../../../console/web/api/panel.js';
import { useResource } from '../../../console/web/state/use-resource.js';

/** All teams, by name. */
export function useTeams() {
  return useResource('teams', (signal) => panel.teams(signal), 15_000);
}
