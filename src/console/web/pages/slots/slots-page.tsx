import { useState } from 'preact/hooks';
import { panel } from '../../api/panel.js';
import type { Slot } from '../../api/types.js';
import { useResource } from '../../state/use-resource.js';
import { Button } from '../../ui/button.js';
import { Empty } from '../../ui/empty.js';
import { Loaded, Skeleton } from '../../ui/loaded.js';
import { Page } from '../../ui/page.js';
import { SlotCard } from './slot-card.js';
import { SlotForm } from './slot-form.js';
import { StateChanges } from './state-changes.js';

/** `undefined`: closed; `null`: a new slot. */
type Edited = Slot | null | undefined;

export function SlotsPage() {
  const slots = useResource('slots', (signal) => panel.slots(signal), 3000);
  const [edited, setEdited] = useState<Edited>(undefined);
  const add = (
    <Button tone="primary" icon="plus" changes onClick={() => setEdited(null)}>
      Add a slot
    </Button>
  );
  return (
    <Page
      title="Slots"
      lead="One upstream account each: how they are, and how much of them is used."
      actions={add}
    >
      <Loaded resource={slots} skeleton={<SlotsSkeleton />}>
        {(list) => (
          <>
            <StateChanges slots={list} />
            {list.length === 0 && <NoSlots />}
            <div class="slots">
              {list.map((slot) => (
                <SlotCard key={slot.id} slot={slot} onChange={slots.reload} onEdit={() => setEdited(slot)} />
              ))}
            </div>
          </>
        )}
      </Loaded>
      {edited !== undefined && (
        <SlotForm slot={edited} onClose={() => setEdited(undefined)} onSaved={slots.reload} />
      )}
    </Page>
  );
}

function NoSlots() {
  return (
    <Empty icon="slots" title="No slots yet">
      <p>
        Add an upstream account, here or under slots: in the config file, and requests have somewhere to go.
      </p>
    </Empty>
  );
}

function SlotsSkeleton() {
  return (
    <div class="slots">
      {['a', 'b'].map((slot) => (
        <div class="card slot" key={slot}>
          <Skeleton rows={5} height={42} />
        </div>
      ))}
    </div>
  );
}
