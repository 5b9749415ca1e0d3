import { useState } from 'preact/hooks';
import { fetchKeyNames, fetchModels, type Model, type NamedKey } from '../../../console/web/api/names.js';
import { fetchStatus } from '../../../console/web/state/status.js';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { changeQuery, usePlace } from '../../../console/web/state/location.js';
import { issuedKeys } from '../../../console/web/state/issued-keys.js';
import { useStore } from '../../../console/web/state/store.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { CodeBlock } from '../../../console/web/ui/code-block.js';
import { CopyButton } from '../../../console/web/ui/copy-button.js';
import { Input } from '../../../console/web/ui/input/field.js';
import { Link } from '../../../console/web/ui/link.js';
import { Loaded, Skeleton } from '../../../console/web/ui/loaded.js';
import { Card, Page } from '../../../console/web/ui/page.js';
import { Segmented } from '../../../console/web/ui/input/segmented.js';
import { Select } from '../../../console/web/ui/input/select.js';
import { curlGroup, snippetGroups } from './snippets.js';
import './connect.css';

export const connectPage: ConsolePage = {
  path: '/connect',
  title: 'Connect',
  group: 'Gateway',
  icon: 'connect',
  key: 'c',
  words: 'snippets curl sdk base url',
  component: ConnectPage,
};

function ConnectPage() {
  const found = useResource('connect', findTargets);
  return (
    <Page
      title="Connect"
      lead="Set a base URL and a key: everything that an SDK or an agent can do then works."
    >
      <Loaded resource={found} skeleton={<ConnectSkeleton />}>
        {(targets) => <Snippets {...targets} />}
      </Loaded>
    </Page>
  );
}

interface Targets {
  readonly baseUrl: string;
  /** Keys that are not revoked. */
  readonly keys: readonly NamedKey[];
  readonly models: readonly Model[];
}

async function findTargets(signal: AbortSignal): Promise<Targets> {
  const [keys, models, status] = await Promise.all([
    fetchKeyNames(signal),
    fetchModels(signal),
    fetchStatus(signal),
  ]);
  return { keys: keys.filter((key) => key.revoked_at === null), models, baseUrl: status.base_url };
}

function Snippets({ baseUrl, keys, models }: Targets) {
  const { query } = usePlace();
  const issued = useStore(issuedKeys);
  const [pasted, setPasted] = useState('');
  const chosen = keys.find(({ id }) => id === query.get('key'));
  const model = models.find(({ id }) => id === query.get('model')) ?? models[0];
  const target = { baseUrl, key: pasted.trim() || keyText(chosen, issued), model: model?.id ?? 'MODEL' };
  const group = snippetGroups.find(({ id }) => id === query.get('tab')) ?? curlGroup;
  return (
    <>
      <Card class="connect-form">
        <BaseUrl url={baseUrl} />
        <KeyChoice keys={keys} chosen={chosen} />
        <PastedKey value={pasted} onValue={setPasted} />
        <Select
          label="Model"
          value={target.model}
          options={models.map(({ id, display_name: name }) => ({ value: id, text: name }))}
          onValue={(id) => changeQuery({ model: id })}
        />
      </Card>
      <Segmented
        label="Kind of client"
        value={group.id}
        options={snippetGroups.map(({ id, text }) => ({ value: id, text }))}
        onValue={(tab) => changeQuery({ tab })}
      />
      <div class="snippets">
        {group.snippets(target).map((snippet) => (
          <CodeBlock key={snippet.title} {...snippet} />
        ))}
      </div>
    </>
  );
}

function PastedKey(props: { readonly value: string; readonly onValue: (key: string) => void }) {
  return (
    <Input
      label="Or paste a key"
      type="password"
      placeholder="sk-gw-…"
      hint="It stays in this tab, and is put into the snippets."
      mono
      {...props}
    />
  );
}

function BaseUrl({ url }: { readonly url: string }) {
  return (
    <div class="field">
      <span class="field-label">Base URL</span>
      <p class="base-url">
        <code>{url}</code>
        <CopyButton text={url} what="the base URL" />
      </p>
      <p class="hint">
        Clients of the other three formats add <code>/v1</code>.
      </p>
    </div>
  );
}

function KeyChoice({
  keys,
  chosen,
}: {
  readonly keys: readonly NamedKey[];
  readonly chosen: NamedKey | undefined;
}) {
  if (keys.length === 0) {
    return (
      <div class="field">
        <span class="field-label">Key</span>
        <p>
          There is none yet. <Link to="/keys?issue=1">Issue a key</Link>
        </p>
      </div>
    );
  }
  const options = [
    { value: '', text: 'A placeholder' },
    ...keys.map(({ id, name, last4 }) => ({ value: id, text: `${name} (…${last4})` })),
  ];
  return (
    <Select
      label="Key"
      value={chosen?.id ?? ''}
      options={options}
      onValue={(id) => changeQuery({ key: id })}
      hint="The snippets show a complete key only right after it was issued in this tab."
    />
  );
}

function ConnectSkeleton() {
  return (
    <>
      <div class="card">
        <Skeleton rows={3} height={62} />
      </div>
      <Skeleton rows={3} height={150} />
    </>
  );
}

/** Key in a snippet: its full text if this tab has issued it, else a placeholder with its last four characters. */
function keyText(chosen: NamedKey | undefined, issued: ReadonlyMap<string, string>): string {
  if (!chosen) return 'YOUR_KEY';
  return issued.get(chosen.id) ?? `sk-gw-…${chosen.last4}`;
}
