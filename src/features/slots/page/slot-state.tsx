import { causeText } from '../../../engine/slots/words.js';
import { span } from '../../../console/web/format/numbers.js';
import { useNow } from '../../../console/web/state/visible.js';
import { Badge, type Tone } from '../../../console/web/ui/badge.js';
import type { IconName } from '../../../console/web/ui/icon.js';
import { RelativeTime } from '../../../console/web/ui/time.js';
import type { Slot, SlotState, CoolReason } from './api.js';

const looks: Readonly<Record<SlotState, { readonly tone: Tone; readonly icon: IconName }>> = {
  ready: { tone: 'ok', icon: 'check' },
  cooling: { tone: 'warn', icon: 'wait' },
  rejected: { tone: 'bad', icon: 'stop' },
  paused: { tone: 'idle', icon: 'pause' },
  unusable: { tone: 'bad', icon: 'warn' },
  draining: { tone: 'info', icon: 'drain' },
};

export function SlotBadge({ state }: { readonly state: SlotState }) {
  const { tone, icon } = looks[state];
  return (
    <Badge tone={tone} icon={icon}>
      {stateWords[state]}
    </Badge>
  );
}

/** The reason why a slot takes no requests, and the end time. Keeps its space if there is none. */
export function SlotReason({ slot }: { readonly slot: Slot }) {
  const { state, reason, until, cause, cooling_models: models } = slot;
  return (
    <div class="slot-reason">
      {reason && <p>{capital(reasonWords[reason] ?? reason)}.</p>}
      {until && <Countdown until={until} />}
      {cause && <Cause cause={cause} />}
      {!reason && <p class={state === 'ready' ? 'dim' : ''}>{hintOf(slot)}</p>}
      {models.map((cooling) => (
        <p key={cooling.model}>
          <span class="mono">{cooling.model}</span>: {reasonWords[cooling.reason] ?? cooling.reason}.{' '}
          <Countdown until={cooling.until} />
          {cooling.cause && <Cause cause={cooling.cause} />}
        </p>
      ))}
    </div>
  );
}

/** The upstream's answer behind a state, with the deciding header. */
function Cause({ cause }: { readonly cause: NonNullable<Slot['cause']> }) {
  return (
    <span class="slot-cause dim">
      {' '}
      {causeText(cause)}, <RelativeTime at={cause.at} />: {cause.message}
    </span>
  );
}

function hintOf({ state, cooling_models: models, problem }: Slot): string {
  if (state === 'ready' && models.length > 0) return 'Takes requests, but not for every model:';
  return problem ?? stateHints[state];
}

const stateHints: Readonly<Record<SlotState, string>> = {
  ready: 'Takes requests.',
  cooling: 'Takes no requests for a while.',
  rejected:
    'The upstream refuses the credential. It is tried again every 5 minutes; enter a new one or resume.',
  paused: 'Takes no requests until you resume it.',
  unusable: 'Disabled by a problem.',
  draining: 'Finishes what is under way and takes nothing new.',
};

function Countdown({ until }: { readonly until: string }) {
  const leftMs = Date.parse(until) - useNow();
  return (
    <span class="countdown" role="timer">
      {leftMs > 0 ? `Back in ${span(leftMs)}` : 'Back any moment'}
    </span>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const stateWords: Readonly<Record<SlotState, string>> = {
  ready: 'Ready',
  cooling: 'Cooling down',
  rejected: 'Rejected',
  paused: 'Paused',
  draining: 'Draining',
  unusable: 'Unusable',
};

export const reasonWords: Readonly<Record<CoolReason, string>> = {
  rate_limited: 'the upstream said: too many requests',
  overloaded: 'the upstream is overloaded',
  unreachable: 'no connection to the upstream',
  window_exhausted: 'its usage window is used up',
};
