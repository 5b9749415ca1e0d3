import { Badge, type Tone } from '../../../console/web/ui/badge.js';
import { Button } from '../../../console/web/ui/button.js';
import type { Tail } from './use-tail.js';

interface TailControlsProps {
  readonly state: Tail['state'];
  readonly isPaused: boolean;
  readonly onPause: (isPaused: boolean) => void;
}

const looks: Readonly<Record<Tail['state'], { readonly tone: Tone; readonly text: string }>> = {
  off: { tone: 'idle', text: 'Paused' },
  connecting: { tone: 'info', text: 'Connecting' },
  live: { tone: 'ok', text: 'Live' },
  lost: { tone: 'warn', text: 'Connection lost, trying again' },
};

/** State of the live tail, and the button that pauses it. */
export function TailControls({ state, isPaused, onPause }: TailControlsProps) {
  const { tone, text } = looks[state];
  return (
    <>
      <span class="tail-state" role="status" aria-live="polite">
        <Badge tone={tone} icon={state === 'live' ? 'pulse' : state === 'off' ? 'pause' : 'wait'}>
          {text}
        </Badge>
      </span>
      <Button icon={isPaused ? 'play' : 'pause'} onClick={() => onPause(!isPaused)}>
        {isPaused ? 'Go on' : 'Pause'}
      </Button>
    </>
  );
}
