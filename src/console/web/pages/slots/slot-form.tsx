import { useState } from 'preact/hooks';
import { panel } from '../../api/panel.js';
import type { Slot } from '../../api/types.js';
import { toast } from '../../state/toasts.js';
import { useAction } from '../../state/use-action.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Input, TextArea } from '../../ui/field.js';
import { Problem } from '../../ui/problem.js';
import { Select } from '../../ui/select.js';
import { AccountFields } from './account-fields.js';
import { draftOf, entryOf, goesElsewhere, patchOf, type PartProps, type SlotDraft } from './slot-draft.js';

export interface SlotFormProps {
  /** Null for a new one. */
  readonly slot: Slot | null;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function SlotForm({ slot, onClose, onSaved }: SlotFormProps) {
  const [before] = useState(() => draftOf(slot));
  const [draft, setDraft] = useState(before);
  const action = useAction();
  const change = (part: Partial<SlotDraft>) => setDraft((last) => ({ ...last, ...part }));
  const isMoved = slot !== null && goesElsewhere(draft, before);
  const save = async (event: Event) => {
    event.preventDefault();
    const isSaved = await action.run(async () => {
      await (slot ? panel.changeSlot(slot.id, patchOf(draft, before)) : panel.addSlot(entryOf(draft)));
    });
    if (!isSaved) return;
    toast(slot ? `${slot.id} is changed.` : `${draft.id} takes requests now.`);
    onSaved();
    onClose();
  };
  return (
    <Dialog title={slot ? `Edit ${slot.id}` : 'Add a slot'} wide firm onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <div class="dialog-body form">
          <Upstream draft={draft} change={change} isNew={!slot} />
          {draft.upstream !== 'simulator' && (
            <AccountFields draft={draft} change={change} isNew={!slot} isMoved={isMoved} />
          )}
          <Shares draft={draft} change={change} />
          <Network draft={draft} change={change} />
          {action.error && <Problem error={action.error} />}
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={action.isBusy}>
            {slot ? 'Save' : 'Add the slot'}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

const upstreams = [
  { value: 'messages', text: 'Messages API' },
  { value: 'simulator', text: 'Simulator (made-up answers)' },
] as const;

function Upstream({ draft, change, isNew }: PartProps & { readonly isNew: boolean }) {
  const setUpstream = (upstream: 'messages' | 'simulator') =>
    change({ upstream, accountKind: upstream === 'simulator' ? 'none' : 'api-key' });
  return (
    <fieldset>
      <legend>Upstream</legend>
      <div class="columns">
        <Input
          label="Name of the slot"
          value={draft.id}
          onValue={(id) => change({ id })}
          hint="Stands in logs and in the x-gw-slot header."
          placeholder="team-a"
          required
          disabled={!isNew}
          mono
        />
        <Select
          label="Kind"
          value={draft.upstream === 'simulator' ? 'simulator' : 'messages'}
          options={upstreams}
          onValue={setUpstream}
        />
      </div>
      {draft.upstream !== 'simulator' && (
        <Input
          label="Base URL"
          type="url"
          value={draft.baseUrl}
          onValue={(baseUrl) => change({ baseUrl })}
          placeholder="https://upstream.example"
          hint="Without /v1: every call adds it."
          required
          mono
        />
      )}
    </fieldset>
  );
}

function Shares({ draft, change }: PartProps) {
  return (
    <fieldset>
      <legend>What it takes</legend>
      <Input
        label="Models"
        value={draft.models}
        onValue={(models) => change({ models })}
        hint="Catalog ids with commas between them; * stands for any text."
        mono
      />
      <div class="columns">
        <Input
          label="Requests at a time"
          type="number"
          min={1}
          value={draft.maxConcurrent}
          onValue={(maxConcurrent) => change({ maxConcurrent })}
          required
        />
        <Input
          label="Weight"
          type="number"
          min={0}
          step="any"
          value={draft.weight}
          onValue={(weight) => change({ weight })}
          hint="Its share beside the other slots."
          required
        />
      </div>
    </fieldset>
  );
}

function Network({ draft, change }: PartProps) {
  return (
    <details class="more">
      <summary>Network: proxy, headers, time to connect</summary>
      <Input
        label="Proxy"
        value={draft.proxy}
        onValue={(proxy) => change({ proxy })}
        placeholder="http://user:pass@egress-1:3128"
        hint="The slot's own way out. A password that is there already shows as ***."
        mono
      />
      <TextArea
        label="Headers"
        value={draft.headers}
        onValue={(headers) => change({ headers })}
        placeholder="x-extra: 1"
        hint="One a line, added to every upstream request. Values that are there already show as *** and stay."
        mono
      />
      <Input
        label="Time to connect"
        value={draft.connectTimeout}
        onValue={(connectTimeout) => change({ connectTimeout })}
        hint="With its unit: 500ms, 10s."
        mono
      />
    </details>
  );
}
