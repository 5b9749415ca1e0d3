import { RouteTable } from '../engine/http/route-table.js';
import type { Gateway } from '../gateway/gateway.js';
import { once } from '../kit/once.js';
import type { AdminCaller } from './access/admin-caller.js';
import { answer } from './answer.js';
import type { OperatorContext, OperatorState, Route } from './route.js';
import type { RouteSource, SharedServices } from './route-source.js';

/** Routes of one kind, with the table that finds them. */
export interface LoadedRoutes {
  readonly table: RouteTable<OperatorState>;
  readonly routes: readonly Route[];
}

/** Loads the routes of one kind at the first call. */
export type LoadRoutes = () => Promise<LoadedRoutes>;

interface LoadParts {
  readonly gateway: Gateway;
  readonly shared: () => SharedServices;
  readonly sources: readonly RouteSource[];
  readonly authenticate: (ctx: OperatorContext) => Promise<AdminCaller>;
}

/** Loader of the routes of one kind. */
export function routeLoader(kind: keyof RouteSource, parts: LoadParts): LoadRoutes {
  return once(async () => {
    const { gateway, shared, sources, authenticate } = parts;
    const makers = await Promise.all(sources.map(async (source) => source[kind]?.()));
    const routes = makers.flatMap((routesOf) => routesOf?.(gateway, shared()) ?? []);
    const access = { sessions: shared().sessions, audit: gateway.services.audit, authenticate };
    const table = new RouteTable<OperatorState>();
    for (const each of routes) table.add(each.method, each.path, answer(each, access));
    return { table, routes };
  });
}
