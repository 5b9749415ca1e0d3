import { causeText } from '../../../engine/slots/words.js';
import { span, share } from '../../../console/web/format/numbers.js';
import { longTime, shortTime, dayMs } from '../../../console/web/format/times.js';
import { useNow } from '../../../console/web/state/visible.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Button } from '../../../console/web/ui/button.js';
import { Dialog } from '../../../console/web/ui/dialog/dialog.js';
import { Loaded, Skeleton } from '../../../console/web/ui/loaded.js';
import { Time } from '../../../console/web/ui/time.js';
import { fetchSlotHistory, type CoolReason, type SlotChange } from './api.js';
import { SlotBadge, reasonWords, stateWords } from './slot-state.js';

interface HistoryDialogProps {
  readonly slot: string;
  readonly onClose: () => void;
}

/** Changes of a slot's state: the last day as a strip, and a list of them. */
export function HistoryDialog({ slot, onClose }: HistoryDialogProps) {
  const history = useResource(slot, (signal) => fetchSlotHistory(slot, signal), 10_000);
  return (
    <Dialog title={`History of ${slot}`} wide onClose={onClose}>
      <div class="dialog-body">
        <Loaded resource={history} skeleton={<Skeleton rows={4} height={36} />}>
          {(changes) => <Changes changes={changes} />}
        </Loaded>
      </div>
      <footer class="dialog-foot">
        <Button tone="primary" onClick={onClose}>
          Close
        </Button>
      </footer>
    </Dialog>
  );
}

function Changes({ changes }: { readonly changes: readonly SlotChange[] }) {
  const now = useNow();
  if (changes.length === 0) return <p class="dim">Nothing is known of this slot yet.</p>;
  return (
    <>
      <StateStrip changes={changes} />
      <ol class="slot-changes">
        {changes.map((change, at) => {
          const endMs = Date.parse(changes[at - 1]?.at ?? new Date(now).toISOString());
          return (
            <Change key={change.at} change={change} ms={endMs - Date.parse(change.at)} isLast={at === 0} />
          );
        })}
      </ol>
      <p class="dim">Changes shown: {changes.length}. The latest 500 of the last 30 days are kept.</p>
    </>
  );
}

interface ChangeProps {
  readonly change: SlotChange;
  readonly ms: number;
  readonly isLast: boolean;
}

function Change({ change, ms, isLast }: ChangeProps) {
  const { at, state, reason, cooling_models: models, status, code } = change;
  return (
    <li>
      <span class="num" title={longTime(new Date(at))}>
        <Time at={at} />
      </span>
      <SlotBadge state={state} />
      <div>
        <p>
          {reason !== null && `${reasonWords[reason as CoolReason] ?? reason} `}
          <span class="dim">{isLast ? `for ${span(ms)} now` : `for ${span(ms)}`}</span>
        </p>
        {models.length > 0 && <p class="dim wrap">Not for {models.join(', ')}.</p>}
        {code !== null && state !== 'ready' && (
          <p class="dim wrap">{causeText({ status, code, header: null })}</p>
        )}
      </div>
    </li>
  );
}

/** States of the last 24 hours side by side; the time before the first known change is empty. */
function StateStrip({ changes }: { readonly changes: readonly SlotChange[] }) {
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
  /** Undefined if unknown. */
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
