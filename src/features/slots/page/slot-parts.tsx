import { bindTexts } from '../../../console/web/state/use-draft.js';
import { Input, TextArea } from '../../../console/web/ui/input/field.js';
import { Select } from '../../../console/web/ui/input/select.js';
import type { SlotKind } from './api.js';
import { OptionInputs } from './option-inputs.js';
import { accountFor, draftFields, kindOf, type PartProps } from './slot-draft.js';

interface UpstreamProps extends PartProps {
  readonly isNew: boolean;
  readonly isMoved: boolean;
}

/** Name of a slot, and the kind of its upstream with its options. */
export function Upstream({ isNew, isMoved, ...props }: UpstreamProps) {
  const { draft, change, kinds, errorAt } = props;
  const kind = kindOf(kinds.upstreams, draft.upstream);
  const setUpstream = (upstream: string) =>
    change({ upstream, ...accountChange(kindOf(kinds.upstreams, upstream), props) });
  return (
    <fieldset>
      <legend>Upstream</legend>
      <div class="columns">
        <Input
          label="Name of the slot"
          {...bindTexts(props)('id')}
          hint="Shown in logs and in the x-gw-slot header."
          error={errorAt('id')}
          placeholder="team-a"
          required
          disabled={!isNew}
          mono
        />
        <Select
          label="Kind"
          value={draft.upstream}
          options={kinds.upstreams.map(({ use, title }) => ({ value: use, text: title ?? use }))}
          onValue={setUpstream}
          hint={kind?.description ?? undefined}
          error={errorAt('upstream') ?? kind?.problem ?? undefined}
        />
      </div>
      {kind?.needs.includes('baseUrl') && (
        <BaseUrl {...props} isUsual isRequired={kind.fields.length === 0} />
      )}
      <OptionInputs
        {...props}
        fields={draftFields(draft, kinds).filter(({ path: [part] }) => part === 'with')}
        keepsSecrets={!isNew && !isMoved}
        others="Options of this upstream"
      />
      <LocalHint kind={kind} />
    </fieldset>
  );
}

/** Change of the account's kind if the chosen one does not fit another upstream. */
function accountChange(upstream: SlotKind | undefined, { draft, kinds }: PartProps) {
  const isNeeded = upstream?.needs.includes('account') === true;
  const fits = upstream?.accounts?.includes(draft.accountKind) ?? true;
  const isIdle = !isNeeded || draft.accountKind === 'none';
  return fits && !isIdle ? {} : { accountKind: accountFor(upstream, kinds) };
}

interface BaseUrlProps extends PartProps {
  /** True if most slots of this kind have one. */
  readonly isUsual: boolean;
  /** The browser requires it; if options of the kind may name it, the API does. */
  readonly isRequired: boolean;
}

function BaseUrl({ isUsual, isRequired, ...props }: BaseUrlProps) {
  return (
    <Input
      label="Base URL"
      type="url"
      {...bindTexts(props)('baseUrl')}
      placeholder="https://upstream.example"
      hint={
        isUsual
          ? 'Without what every call adds, such as /v1/messages.'
          : 'Only if it differs from the default of its kind.'
      }
      error={props.errorAt('baseUrl')}
      required={isRequired}
      mono
    />
  );
}

/** Models, and the capacity of a slot. */
export function Shares(props: PartProps) {
  const { errorAt } = props;
  const tied = bindTexts(props);
  return (
    <fieldset>
      <legend>What it takes</legend>
      <Input
        label="Models"
        {...tied('models')}
        hint="Catalog ids, separated by commas; * matches any text, and id = name gives the upstream's own name."
        error={errorAt('models')}
        mono
      />
      <div class="columns">
        <Input
          label="Requests at a time"
          type="number"
          min={1}
          {...tied('maxConcurrent')}
          error={errorAt('maxConcurrent')}
          required
        />
        <Input
          label="Weight"
          type="number"
          min={0}
          step="any"
          {...tied('weight')}
          hint="Its share of the load, relative to the other slots."
          error={errorAt('weight')}
          required
        />
      </div>
    </fieldset>
  );
}

/** The proxy to the upstream, and settings that few slots need. */
export function Network(props: PartProps) {
  const { draft, kinds, errorAt } = props;
  const tied = bindTexts(props);
  const isOpen = ['proxy', 'headers', 'connectTimeout'].some((path) => errorAt(path) !== undefined);
  const own = draftFields(draft, kinds).filter(
    ({ path: [part = ''] }) => !['with', 'account'].includes(part),
  );
  const hasOwnUrl = kindOf(kinds.upstreams, draft.upstream)?.needs.includes('baseUrl') === true;
  return (
    <>
      {own.length > 0 && <OptionInputs {...props} fields={own} keepsSecrets={false} others="More settings" />}
      <details class="more" open={isOpen}>
        <summary>Network: proxy, headers, time to connect</summary>
        {!hasOwnUrl && <BaseUrl {...props} isUsual={false} isRequired={false} />}
        <Input
          label="Proxy"
          {...tied('proxy')}
          placeholder="http://user:pass@egress-1:3128"
          hint="Proxy for the calls of this slot. A stored password shows as ***."
          error={errorAt('proxy')}
          mono
        />
        <TextArea
          label="Headers"
          {...tied('headers')}
          placeholder="x-extra: 1"
          hint="One per line, added to every upstream request. Stored values show as *** and are kept."
          error={errorAt('headers')}
          mono
        />
        <Input
          label="Time to connect"
          {...tied('connectTimeout')}
          hint="With its unit: 500ms, 10s."
          error={errorAt('connectTimeout')}
          mono
        />
      </details>
    </>
  );
}

/** Options of a kind that only the config file may set. */
export function LocalHint({ kind }: { readonly kind: SlotKind | undefined }) {
  const names = (kind?.fields ?? []).filter(({ local }) => local).map(({ path }) => path.join('.'));
  if (names.length === 0) return null;
  return (
    <p class="hint">
      Only a slot of the config file may set <span class="mono">{names.join(', ')}</span>: they read the
      machine of the gateway.
    </p>
  );
}
