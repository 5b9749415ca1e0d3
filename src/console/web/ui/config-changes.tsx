import type { ConfigDiff, EntryChange, SettingChange } from '../../../config/diff/config-diff.js';
import { Badge } from './badge.js';

/** True if a reload would change anything. */
export function hasChanges({ stages, pipelines, formats, slots, models, settings }: ConfigDiff): boolean {
  return [stages, pipelines, formats, slots, models, settings].some((part) => part.length > 0);
}

/** The difference between the config in force and the file, part by part. */
export function Changes({ changes }: { readonly changes: ConfigDiff }) {
  const { stages, pipelines, formats, slots, models, settings } = changes;
  return (
    <div class="changes">
      <Entries title="Stages" entries={stages} />
      <Entries title="Pipelines" entries={pipelines} />
      {pipelines.map(({ name, stages: own }) => (
        <Entries key={name} title={`Stages of ${name}`} entries={own} />
      ))}
      <Entries title="Formats" entries={formats} />
      <Entries title="Slots" entries={slots} />
      <Entries title="Models" entries={models} />
      {settings.length > 0 && (
        <section>
          <h3>Settings</h3>
          <Settings settings={settings} />
        </section>
      )}
    </div>
  );
}

interface EntriesProps {
  readonly title: string;
  readonly entries: readonly EntryChange[];
}

function Entries({ title, entries }: EntriesProps) {
  if (entries.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul class="change-entries">
        {entries.map((entry) => (
          <Entry key={entry.name} entry={entry} />
        ))}
      </ul>
    </section>
  );
}

function Entry({ entry: { name, change, moved, settings } }: { readonly entry: EntryChange }) {
  const switched = settings.find(({ path }) => path === 'enabled');
  return (
    <li>
      <p class="change-head">
        <Sign change={change} />
        <b class="mono wrap">{name}</b>
        {switched && <Badge tone="idle">switched {switched.after === true ? 'on' : 'off'}</Badge>}
        {moved && (
          <span class="dim">
            moved {placeAfter(moved.now)}, was {placeAfter(moved.was)}
          </span>
        )}
      </p>
      <Settings settings={settings.filter((setting) => setting !== switched)} />
    </li>
  );
}

function placeAfter(neighbour: string | null): string {
  return neighbour === null ? 'to the top' : `after ${neighbour}`;
}

/** Changes of settings, a line each. */
export function Settings({ settings }: { readonly settings: readonly SettingChange[] }) {
  if (settings.length === 0) return null;
  return (
    <dl class="change-settings">
      {settings.map((setting) => (
        <div key={setting.path}>
          <dt>
            <Sign change={setting.change} />
            <span class="mono wrap">{setting.path}</span>
          </dt>
          <dd>
            <Values setting={setting} />
            {setting.restart && (
              <Badge tone="warn" icon="warn">
                needs a restart
              </Badge>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Values({ setting: { change, before, after, secret } }: { readonly setting: SettingChange }) {
  if (secret) return <span class="dim">{change}; its value is not shown</span>;
  return (
    <span class="mono wrap">
      {change !== 'added' && <del>{valueText(before)}</del>}
      {change === 'changed' && <span aria-hidden="true"> → </span>}
      {change !== 'removed' && <ins>{valueText(after)}</ins>}
    </span>
  );
}

const signs = { added: '+', removed: '−', changed: '~' } as const;

function Sign({ change }: { readonly change: SettingChange['change'] }) {
  return (
    <>
      <span class={`change-sign change-${change}`} aria-hidden="true">
        {signs[change]}
      </span>
      <span class="sr-only">{change}</span>
    </>
  );
}

/** A value of the config in a line; a list of texts without its brackets. */
export function valueText(value: unknown): string {
  if (value === '') return '(empty)';
  if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string'))
    return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
