import type { ContentBlock, MessagesRequest } from '@gw2api/gateway/plugin';
import type { CacheControl } from '@gw2api/gateway/plugin/upstream';

interface Mark {
  readonly path: string;
  readonly control: CacheControl;
}

/** At most four cache markers, and in the order of a prompt no 1h marker after a 5m one. */
export function cachingProblem(request: MessagesRequest): string | undefined {
  const marks = findMarks(request);
  if (marks.length > 4)
    return `A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`;
  const short = marks.findIndex(({ control }) => control.ttl !== '1h');
  const late = marks.find(({ control }, at) => short >= 0 && at > short && control.ttl === '1h');
  return (
    late &&
    `${late.path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control ` +
      'block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.'
  );
}

function findMarks({ tools = [], system = [], messages, cache_control }: MessagesRequest): readonly Mark[] {
  return [
    ...tools.flatMap((tool, at) => markOf(tool, `tools.${at}`)),
    ...marksOf(system, 'system'),
    ...messages.flatMap(({ content }, at) => marksOf(content, `messages.${at}.content`)),
    ...markOf({ cache_control }, 'body'),
  ];
}

/** Includes blocks inside a tool result, whose markers precede the result's own. */
function marksOf(content: string | readonly ContentBlock[], path: string): readonly Mark[] {
  if (typeof content === 'string') return [];
  return content.flatMap((block, at) => {
    const inside = Array.isArray(block['content']) ? (block['content'] as readonly ContentBlock[]) : []; // its shape was checked
    return [...marksOf(inside, `${path}.${at}.${block.type}.content`), ...markOf(block, `${path}.${at}`)];
  });
}

function markOf(
  { cache_control: control }: { cache_control?: CacheControl | null | undefined },
  path: string,
): Mark[] {
  return control ? [{ path, control }] : [];
}
