import { bindTexts, type Drafting } from '../../../console/web/state/use-draft.js';
import { Input } from '../../../console/web/ui/input/field.js';
import { Select } from '../../../console/web/ui/input/select.js';
import { LimitFields, limitDraftOf, limitsOf, type LimitDraft } from './limit-fields.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { PipelineSelect } from './pipeline-select.js';
import { fetchTeams, type Key, type KeySettings } from './api.js';
import { fromInputTime, toInputTime } from '../../../console/web/format/times.js';

export function KeyFields(props: Drafting<KeyDraft>) {
  const tied = bindTexts(props);
  return (
    <>
      <Input
        label="Name"
        {...tied('name')}
        placeholder="alice, ci, support-bot"
        hint="Shown in the ledger and in the logs."
        required
      />
      <Input label="Note" {...tied('note')} placeholder="What it is for" />
      <TeamField {...props} />
      <PipelineSelect
        value={props.draft.pipeline}
        none="that of its team or request"
        hint="The pipeline of its requests, whichever its team names."
        onValue={(pipeline) => props.change({ pipeline })}
      />
      <LimitFields {...props} />
      <fieldset>
        <legend>Reach</legend>
        <div class="columns">
          <Input
            label="Models"
            {...tied('models')}
            placeholder="all"
            hint="Catalog ids, separated by commas; * matches any text."
            mono
          />
          <Input
            label="Slots"
            {...tied('slots')}
            placeholder="all"
            hint="Slot ids, separated by commas; * matches any text."
            mono
          />
          <Input label="Ends" type="datetime-local" {...tied('expires')} hint="Empty: it does not expire." />
        </div>
      </fieldset>
    </>
  );
}

/** Choice of a team; absent while there is none. */
function TeamField({ draft, change }: Drafting<KeyDraft>) {
  const { data: teams = [] } = useTeams();
  if (teams.length === 0 && draft.team === '') return null;
  const isKnown = draft.team === '' || teams.some(({ id }) => id === draft.team);
  const options = [
    { value: '', text: 'no team' },
    ...teams.map(({ id, name }) => ({ value: id, text: name })),
    ...(isKnown ? [] : [{ value: draft.team, text: draft.team }]),
  ];
  return (
    <Select
      label="Team"
      value={draft.team}
      options={options}
      onValue={(team) => change({ team })}
      hint="Its keys share the limits and budgets of the team, in addition to their own."
    />
  );
}

/** Note about unknown models of a key, with a space before it; empty if all are known. */
export function unknownModelsNote(models: readonly string[]): string {
  if (models.length === 0) return '';
  return ` ${models.join(', ')} is in neither the catalog nor the list of a slot: a misspelt name admits nothing.`;
}

/** All teams, by name. */
export function useTeams() {
  return useResource('teams', fetchTeams, 15_000);
}

/** Texts of the key form as typed. */
export interface KeyDraft extends LimitDraft {
  readonly name: string;
  readonly note: string;
  readonly expires: string;
  readonly models: string;
  readonly slots: string;
  /** Id; empty: none. */
  readonly team: string;
  /** Empty: none. */
  readonly pipeline: string;
}

export function draftOf(key: Key | null): KeyDraft {
  return {
    name: key?.name ?? '',
    note: key?.note ?? '',
    expires: toInputTime(key?.expires_at ?? null),
    models: key?.models?.join(', ') ?? '',
    slots: key?.slots?.join(', ') ?? '',
    team: key?.team ?? '',
    pipeline: key?.pipeline ?? '',
    ...limitDraftOf(key),
  };
}

/**
 * All settings of the form; null for an empty field. The expiry is to the minute, as in the form: only the differences
 * between two drafts are sent.
 */
export function settingsOf(draft: KeyDraft): KeySettings {
  return {
    name: draft.name.trim(),
    note: draft.note.trim() || null,
    expires_at: fromInputTime(draft.expires),
    models: listOf(draft.models),
    slots: listOf(draft.slots),
    team: draft.team || null,
    pipeline: draft.pipeline || null,
    ...limitsOf(draft),
  };
}

/** Words of a text; null if there are none. */
function listOf(text: string): string[] | null {
  const words = text.split(/[\s,]+/).filter(Boolean);
  return words.length > 0 ? words : null;
}
