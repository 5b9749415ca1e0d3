import { share, span } from '../../../console/web/format/numbers.js';
import { shortTime } from '../../../console/web/format/times.js';
import { useNow } from '../../../console/web/state/now.js';
import type { SlotChange } from './api.js';
import { stateWords } from './slot-words.js';

const dayMs = 86_400_000;

/** States of the last 24 hours side by side; the time before the first known change is empty. */
export function StateStrip({ changes }: { readonly changes: readonly SlotChange[] }) {
  const now = useNow();
  const parts = stripParts(changes, now - dayMs, now);
  const readyMs = parts.filter(({ state }) => state === 'ready').reduce((sum, { ms }) => sum + ms, 0);
  const knownMs = parts.reduce((sum, { state, ms }) => sum + (state ? ms : 0), 0);
  const summary = `Ready for ${share(readyMs, knownMs)} of the last ${span(Math.min(dayMs, knownMs))}.`;
  return (
    <figure class="state-strip">
      <div role="img" aria-label={summary}>
        {parts.map(({ fromMs, ms, state }) => (
          <span
            key={fromMs}
            class={state ? `strip-${state}` : ''}
            style={{ flexGrow: ms }}
            title={`${state ? stateWords[state] : 'Not known'}, ${span(ms)} from ${shortTime(new Date(fromMs))}`}
          />
        ))}
      </div>
      <figcaption>
        <span>24 h ago</span>
        <span>{summary}</span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}

interface StripPart {
  readonly fromMs: number;
  readonly ms: number;
  /** Undefined: not known. */
  readonly state: SlotChange['state'] | undefined;
}

/** States from `fromMs` to `toMs`, in the order of time; `changes`: newest first. */
function stripParts(changes: readonly SlotChange[], fromMs: number, toMs: number): readonly StripPart[] {
  const parts: StripPart[] = [];
  let endMs = toMs;
  for (const { at, state } of changes) {
    const startMs = Math.min(endMs, Math.max(fromMs, Date.parse(at)));
    if (endMs > startMs) parts.push({ fromMs: startMs, ms: endMs - startMs, state });
    endMs = startMs;
    if (endMs <= fromMs) break;
  }
  if (endMs > fromMs) parts.push({ fromMs, ms: endMs - fromMs, state: undefined });
  return parts.toReversed();
}
