import { conversationParts } from './conversation-parts.js';
import type { Feature } from './feature.js';
import { leavesOf } from './paths.js';
import { everywhere, text, type Part } from './places.js';
import { settingParts } from './setting-parts.js';
import { toolParts } from './tool-parts.js';

const known: Readonly<Record<string, readonly Part[]>> = {
  ...conversationParts,
  ...settingParts,
  ...toolParts,
};

/** Parts of a feature: those of the tables, else each text of its body that is marked, in its place. */
export function partsOf({ name, format, body }: Feature): readonly Part[] {
  return known[`${format}: ${name}`] ?? known[name] ?? markedParts(body);
}

/** Texts with a mark; each may stand anywhere. */
function markedParts(body: Feature['body']): readonly Part[] {
  return leavesOf(body).flatMap(({ path, value }): readonly Part[] =>
    typeof value === 'string' && /[A-Z]MARK|MARK[A-Z]|-MARK|_MARK/.test(value)
      ? [{ of: path, in: everywhere(text('', value)) }]
      : [],
  );
}
