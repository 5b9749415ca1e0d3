import { useState } from 'preact/hooks';
import { panel } from '../../api/panel.js';
import type { Slot } from '../../api/types.js';
import { toast } from '../../state/toasts.js';
import { useAction } from '../../state/use-action.js';
import { tie, useDraft } from '../../state/use-draft.js';
import { Input, TextArea } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { Select } from '../../ui/select.js';
import { AccountFields } from './account-fields.js';
import { draftOf, entryOf, goesElsewhere, patchOf, type PartProps } from './slot-draft.js';

interface SlotFormProps {
  /** Null for a new slot. */
  readonly slot: Slot | null;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function SlotForm({ slot, onClose, onSaved }: SlotFormProps) {
  const [before] = useState(() => draftOf(slot));
  const drafting = useDraft(before);
  const { draft } = drafting;
  const action = useAction();
  const isMoved = slot !== null && goesElsewhere(draft, before);
  const save = async () => {
    const isSaved = await action.run(async () => {
      await (slot ? panel.changeSlot(slot.id, patchOf(draft, before)) : panel.addSlot(entryOf(draft)));
    });
    if (!isSaved) return;
    toast(slot ? `${slot.id} is changed.` : `${draft.id} takes requests now.`);
    onSaved();
    onClose();
  };
  return (
    <FormDialog
      title={slot ? `Edit ${slot.id}` : 'Add a slot'}
      verb={slot ? 'Save' : 'Add the slot'}
      action={action}
      onSubmit={save}
      onClose={onClose}
    >
      <Upstream {...drafting} isNew={!slot} />
      {draft.upstream !== 'simulator' && <AccountFields {...drafting} isNew={!slot} isMoved={isMoved} />}
      <Shares {...drafting} />
      <Network {...drafting} />
    </FormDialog>
  );
}

const upstreams = [
  { value: 'messages', text: 'Messages API' },
  { value: 'simulator', text: 'Simulator (made-up answers)' },
] as const;

function Upstream({ isNew, ...drafting }: PartProps & { readonly isNew: boolean }) {
  const { draft, change } = drafting;
  const tied = tie(drafting);
  const setUpstream = (upstream: 'messages' | 'simulator') =>
    change({ upstream, accountKind: upstream === 'simulator' ? 'none' : 'api-key' });
  return (
    <fieldset>
      <legend>Upstream</legend>
      <div class="columns">
        <Input
          label="Name of the slot"
          {...tied('id')}
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
          {...tied('baseUrl')}
          placeholder="https://upstream.example"
          hint="Without /v1: every call adds it."
          required
          mono
        />
      )}
    </fieldset>
  );
}

function Shares(drafting: PartProps) {
  const tied = tie(drafting);
  return (
    <fieldset>
      <legend>What it takes</legend>
      <Input
        label="Models"
        {...tied('models')}
        hint="Catalog ids with commas between them; * stands for any text."
        mono
      />
      <div class="columns">
        <Input label="Requests at a time" type="number" min={1} {...tied('maxConcurrent')} required />
        <Input
          label="Weight"
          type="number"
          min={0}
          step="any"
          {...tied('weight')}
          hint="Its share beside the other slots."
          required
        />
      </div>
    </fieldset>
  );
}

function Network(drafting: PartProps) {
  const tied = tie(drafting);
  return (
    <details class="more">
      <summary>Network: proxy, headers, time to connect</summary>
      <Input
        label="Proxy"
        {...tied('proxy')}
        placeholder="http://user:pass@egress-1:3128"
        hint="The slot's own way out. A password that is there already shows as ***."
        mono
      />
      <TextArea
        label="Headers"
        {...tied('headers')}
        placeholder="x-extra: 1"
        hint="One a line, added to every upstream request. Values that are there already show as *** and stay."
        mono
      />
      <Input label="Time to connect" {...tied('connectTimeout')} hint="With its unit: 500ms, 10s." mono />
    </details>
  );
}
