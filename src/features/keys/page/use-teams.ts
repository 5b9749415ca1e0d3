import { useResource } from '../../../console/web/state/use-resource.js';
import { fetchTeams } from './api.js';

/** All teams, by name. */
export function useTeams() {
  return useResource('teams', fetchTeams, 15_000);
}
