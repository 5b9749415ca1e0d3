import type { Loss, MessagesRequest } from '@gw2api/gateway/plugin';

/** Losses with the places that tools have in the request that was asked, where only some of them are offered. */
export function inAsked(
  losses: readonly Loss[],
  { tools: asked }: MessagesRequest,
  { tools: offered }: MessagesRequest,
): readonly Loss[] {
  if (asked === offered || !asked || !offered) return losses;
  const places = new Map(asked.map((tool, at) => [tool, at]));
  return losses.map(({ path, kind }) => {
    const [, at, rest = ''] = /^tools\[(\d+)\](.*)$/s.exec(path) ?? [];
    const tool = at === undefined ? undefined : offered[Number(at)];
    return tool ? { path: `tools[${places.get(tool)}]${rest}`, kind } : { path, kind };
  });
}
