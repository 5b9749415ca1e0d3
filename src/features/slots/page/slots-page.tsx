import { useState, useEffect, useRef } from 'preact/hooks';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { changeQuery, usePlace, navigate } from '../../../console/web/state/location.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { useSearch } from '../../../console/web/state/use-search.js';
import { Button } from '../../../console/web/ui/button.js';
import { Empty } from '../../../console/web/ui/empty.js';
import { Loaded, Skeleton } from '../../../console/web/ui/loaded.js';
import { Page } from '../../../console/web/ui/page.js';
import { SearchField } from '../../../console/web/ui/input/search-field.js';
import { Segmented } from '../../../console/web/ui/input/segmented.js';
import { fetchSlots, type Slot } from './api.js';
import { SlotCard } from './slot-card.js';
import { SlotForm } from './slot-form.js';
import { SlotTable } from './slot-table.js';
import { stateWords } from './slot-state.js';
import './slots.css';
import type { Command } from '../../../console/web/shell/palette/command.js';

export const slotsPage: ConsolePage = {
  path: '/slots',
  title: 'Slots',
  group: 'Upstreams',
  icon: 'slots',
  key: 's',
  words: 'accounts windows',
  isMain: true,
  component: SlotsPage,
};

/** `undefined`: closed; `null`: a new slot. */
type Edited = Slot | null | undefined;

function SlotsPage() {
  const slots = useResource('slots', fetchSlots, 3000);
  const [edited, setEdited] = useState<Edited>(undefined);
  const add = (
    <Button tone="primary" icon="plus" changes onClick={() => setEdited(null)}>
      Add a slot
    </Button>
  );
  return (
    <Page title="Slots" lead="One upstream account each: their state and their use." actions={add}>
      <Loaded resource={slots} skeleton={<SlotsSkeleton />}>
        {(list) => <Slots list={list} onChange={slots.reload} onEdit={setEdited} />}
      </Loaded>
      {edited !== undefined && (
        <SlotForm slot={edited} onClose={() => setEdited(undefined)} onSaved={slots.reload} />
      )}
    </Page>
  );
}

interface SlotsProps {
  readonly list: readonly Slot[];
  readonly onChange: () => void;
  readonly onEdit: (slot: Slot) => void;
}

/** Slots as cards or in a table, according to the URL. */
function Slots({ list, onChange, onEdit }: SlotsProps) {
  const view = usePlace().query.get('view') === 'table' ? 'table' : 'cards';
  const found = useSearch(list, textOf);
  return (
    <>
      <StateChanges slots={list} />
      {list.length === 0 ? (
        <NoSlots />
      ) : (
        <div class="table-tools">
          <SearchField label="Search slots" />
          <span class="end">
            <Segmented
              label="View"
              value={view}
              options={views}
              onValue={(next) => changeQuery({ view: next === 'table' ? next : null })}
            />
          </span>
        </div>
      )}
      {list.length > 0 && found.length === 0 && <p class="dim">No slot has these words.</p>}
      {view === 'table' && found.length > 0 && <SlotTable slots={found} />}
      {view === 'cards' && (
        <div class="slots">
          {found.map((slot) => (
            <SlotCard key={slot.id} slot={slot} onChange={onChange} onEdit={() => onEdit(slot)} />
          ))}
        </div>
      )}
    </>
  );
}

const views = [
  { value: 'cards', text: 'Cards' },
  { value: 'table', text: 'Table' },
] as const;

function textOf({ id, upstream, account, state, source, models, last_error: error }: Slot): string {
  return [id, upstream, account, stateWords[state], source, ...models, error ?? ''].join(' ');
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

/** Announces changes of slot states to screen readers, without the countdowns. */
function StateChanges({ slots }: { readonly slots: readonly Slot[] }) {
  const known = useRef<ReadonlyMap<string, string>>(new Map());
  const [text, setText] = useState('');
  useEffect(() => {
    const changes = slots.flatMap(({ id, state }) => {
      const before = known.current.get(id);
      return before !== undefined && before !== state ? [`Slot ${id}: ${stateWords[state]}.`] : [];
    });
    known.current = new Map(slots.map(({ id, state }) => [id, state]));
    if (changes.length > 0) setText(changes.join(' '));
  }, [slots]);
  return (
    <p class="sr-only" aria-live="polite">
      {text}
    </p>
  );
}

/** Commands of the palette for slots: to find one, and its requests. */
export function useSlotCommands(): readonly Command[] {
  const { data: slots = [] } = useResource('palette slots', fetchSlots);
  return [...slots.map(slotCommand), ...slots.map(slotRequests)];
}

function slotCommand({ id }: Slot): Command {
  return {
    id: `slot ${id}`,
    group: 'Slots',
    text: id,
    icon: 'slots',
    run: () => navigate(`/slots?q=${encodeURIComponent(id)}`),
  };
}

function slotRequests({ id }: Slot): Command {
  return {
    id: `requests of slot ${id}`,
    group: 'Requests',
    text: `Requests of ${id}`,
    icon: 'requests',
    words: 'slot',
    run: () => navigate(`/requests?slot=${encodeURIComponent(id)}`),
  };
}
