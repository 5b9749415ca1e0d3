import { runWithToast } from '../../../console/web/state/use-action.js';
import { Button } from '../../../console/web/ui/button.js';
import { actOnSlot, type Slot, type SlotVerb } from './api.js';

interface SlotActionsProps {
  readonly slot: Slot;
  readonly onChange: () => void;
  readonly onEdit: () => void;
  readonly onDiagnose: () => void;
  readonly onHistory: () => void;
  readonly onDelete: () => void;
}

export function SlotActions({ slot, onChange, onEdit, onDiagnose, onHistory, onDelete }: SlotActionsProps) {
  const { id, state, source } = slot;
  const act = (verb: SlotVerb) =>
    void runWithToast(`${id} is ${done[verb]}.`, async () => {
      await actOnSlot(id, verb);
      onChange();
    });
  const isHeld = state === 'paused' || state === 'draining';
  return (
    <footer class="slot-actions">
      {state !== 'ready' && (
        <Button small changes icon="play" onClick={() => act('resume')}>
          Resume
        </Button>
      )}
      {state !== 'paused' && (
        <Button small changes icon="pause" onClick={() => act('pause')}>
          Pause
        </Button>
      )}
      {!isHeld && (
        <Button small changes icon="drain" onClick={() => act('drain')}>
          Drain
        </Button>
      )}
      <Button small changes icon="pulse" onClick={onDiagnose}>
        Diagnose
      </Button>
      <Button small icon="wait" onClick={onHistory}>
        History
      </Button>
      {source === 'console' && (
        <span class="slot-edit">
          <Button small changes tone="quiet" icon="edit" label={`Edit ${id}`} onClick={onEdit} />
          <Button small changes tone="quiet" icon="bin" label={`Delete ${id}`} onClick={onDelete} />
        </span>
      )}
    </footer>
  );
}

const done: Readonly<Record<SlotVerb, string>> = { pause: 'paused', resume: 'back', drain: 'draining' };
