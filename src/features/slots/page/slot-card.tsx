import { useState } from 'preact/hooks';
import { count } from '../../../console/web/format/numbers.js';
import { Badge } from '../../../console/web/ui/badge.js';
import { Confirm } from '../../../console/web/ui/dialog/confirm.js';
import { Link } from '../../../console/web/ui/link.js';
import { RelativeTime } from '../../../console/web/ui/time.js';
import { deleteSlot, type Slot, actOnSlot, type SlotVerb } from './api.js';
import { DiagnosisDialog } from './diagnosis-dialog.js';
import { HistoryDialog } from './history-dialog.js';
import { SlotLoad } from './slot-load.js';
import { SlotBadge, SlotReason } from './slot-state.js';
import { runWithToast } from '../../../console/web/state/use-action.js';
import { Button } from '../../../console/web/ui/button.js';

interface SlotCardProps {
  readonly slot: Slot;
  readonly onChange: () => void;
  readonly onEdit: () => void;
}

export function SlotCard({ slot, onChange, onEdit }: SlotCardProps) {
  const [open, setOpen] = useState<'diagnosis' | 'history' | 'delete'>();
  const close = () => setOpen(undefined);
  return (
    <article class={`card slot slot-${slot.state}`} aria-label={`Slot ${slot.id}`}>
      <header class="slot-head">
        <div>
          <h2>{slot.id}</h2>
          <p class="dim">
            {slot.upstream}, {accountWords[slot.account] ?? slot.account}
          </p>
        </div>
        <SlotBadge state={slot.state} />
      </header>
      <SlotReason slot={slot} />
      <SlotLoad slot={slot} />
      {slot.last_error && (
        <p class="slot-error">
          Last error
          {slot.last_error_at && (
            <>
              , <RelativeTime at={slot.last_error_at} />
            </>
          )}
          : {slot.last_error}
        </p>
      )}
      <Origin slot={slot} />
      <SlotActions
        slot={slot}
        onChange={onChange}
        onEdit={onEdit}
        onDiagnose={() => setOpen('diagnosis')}
        onHistory={() => setOpen('history')}
        onDelete={() => setOpen('delete')}
      />
      {open === 'diagnosis' && <DiagnosisDialog slot={slot.id} onClose={close} />}
      {open === 'history' && <HistoryDialog slot={slot.id} onClose={close} />}
      {open === 'delete' && <DeleteSlot slot={slot} onClose={close} onDeleted={onChange} />}
    </article>
  );
}

const accountWords: Readonly<Record<string, string>> = {
  'api-key': 'API key',
  oauth: 'OAuth account',
  none: 'no account',
};

/** Source of a slot, config file or console, the only place to change it. */
function Origin({ slot }: { readonly slot: Slot }) {
  return (
    <p class="slot-origin">
      {slot.source === 'config' ? (
        <>
          <Badge tone="idle" icon="file">
            Config file
          </Badge>
          <span class="mono dim">{slot.place}</span>
        </>
      ) : (
        <>
          <Badge tone="info" icon="edit">
            Console
          </Badge>
          {slot.updated_at && (
            <span class="dim">
              changed <RelativeTime at={slot.updated_at} />
            </span>
          )}
        </>
      )}
      <Link to={`/requests?slot=${encodeURIComponent(slot.id)}`}>Requests</Link>
    </p>
  );
}

interface DeleteSlotProps {
  readonly slot: Slot;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

function DeleteSlot({ slot, onClose, onDeleted }: DeleteSlotProps) {
  const remove = async () => {
    await deleteSlot(slot.id);
    onDeleted();
  };
  return (
    <Confirm title={`Delete the slot ${slot.id}?`} verb="Delete" onConfirm={remove} onClose={onClose}>
      <p>
        Its account and credential are gone for good. Requests under way finish; its {count(slot.bindings)}{' '}
        bound sessions move to other slots.
      </p>
    </Confirm>
  );
}

interface SlotActionsProps {
  readonly slot: Slot;
  readonly onChange: () => void;
  readonly onEdit: () => void;
  readonly onDiagnose: () => void;
  readonly onHistory: () => void;
  readonly onDelete: () => void;
}

function SlotActions({ slot, onChange, onEdit, onDiagnose, onHistory, onDelete }: SlotActionsProps) {
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
