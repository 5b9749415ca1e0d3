import type { Store } from '../state/store/contract/store.js';
import { invalid } from './check.js';

/** Id of the team with this id, else of the one with this name. Throws `invalid_request` for several of one name. */
export async function teamIdOf({ teams }: Pick<Store, 'teams'>, team: string): Promise<string | undefined> {
  if (await teams.get(team)) return team;
  const named = (await teams.list()).filter(({ name }) => name === team);
  if (named.length > 1)
    throw invalid([
      `team: there are ${named.length} teams called ${JSON.stringify(team)}; name one by its id`,
    ]);
  return named[0]?.id;
}

/** A query with the id of its team, which may be named or deleted. */
export async function withTeamId<Query extends { readonly team?: string | undefined }>(
  store: Pick<Store, 'teams'>,
  query: Query,
): Promise<Query> {
  if (query.team === undefined) return query;
  const team = await teamIdOf(store, query.team);
  return team === undefined ? query : { ...query, team };
}
