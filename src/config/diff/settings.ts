import type { Config } from '../config.js';
import type { SettingChange } from './config-diff.js';
import { durationText } from './durations.js';
import type { RawServers } from '../live.js';
import { listen } from '../sections/listen.js';
import { PanelSchema } from '../sections/panel.js';
import { TelemetrySchema } from '../sections/telemetry.js';
import { isRecord } from '../../kit/schema/record.js';
import { redactAddresses } from '../../kit/schema/redact-addresses.js';
import { compareValues, objectValue, optionsValue, plainValue, type Value } from './values.js';

/** Changes of the settings that are no lists, with those that wait for the next start. */
export function diffSettings(before: Config, after: Config): SettingChange[] {
  return compareValues(settingsValue(before), settingsValue(after)).map((change) =>
    takesRestart(change.path) ? { ...change, restart: true } : change,
  );
}

/** Names of the sections with changed settings that take effect only at a restart. */
export function needsRestart(started: Config, now: Config): string[] {
  return restartSections(diffSettings(started, now));
}

/** Sections of the changes that wait for the next start. */
export function restartSections(changes: readonly SettingChange[]): string[] {
  const sections = changes.filter(({ restart }) => restart).map(({ path }) => path.replace(/\..*$/s, ''));
  return [...new Set(sections)];
}

function takesRestart(path: string): boolean {
  const [section = '', key = ''] = path.split('.');
  if (section === 'listen') return listen.restart && !listen.live.has(key);
  return ['store', 'ledger', 'audit', 'live', 'telemetry', 'reload'].includes(section);
}

function settingsValue(config: Config): Value {
  const { store, ledger, audit, live, telemetry, log, reload, panel, console, officialClient } = config;
  const written = Object(config.written) as Readonly<Record<string, unknown>>; // any object has properties, perhaps undefined
  return objectValue({
    listen: listen.compared(config.listen, written['listen']),
    // An address is one value in the file, whatever has been read from it.
    store: { raw: store, shown: plainValue(storeValue(store), written['store']).shown },
    ledger: plainValue(ledger, written['ledger']),
    audit: plainValue(audit, written['audit']),
    live: { raw: live, shown: shownLive(live, written['live']) },
    telemetry: optionsValue(telemetry, written['telemetry'], TelemetrySchema),
    log: plainValue(log, written['log']),
    reload: plainValue(reload, written['reload']),
    panel: optionsValue(panelSettings(panel), written['panel'], PanelSchema),
    console: plainValue(console, written['console']),
    officialClient: plainValue(officialClient, written['officialClient']),
  });
}

function panelSettings({ oidc, sessionIdleMs = 0, ...rest }: Config['panel']): object {
  const panel = { ...rest, sessionIdleTimeout: durationText(sessionIdleMs) };
  if (!oidc) return panel;
  const { sessionMs, tls, ...settings } = oidc;
  const shown = { ...settings, sessionHours: sessionMs / 3_600_000, ...(tls && { tls: tls.shown }) };
  return { ...panel, oidc: shown };
}

function storeValue(store: Config['store']): string | object {
  if (store.kind === 'memory') return store.kind;
  if (store.kind === 'sqlite') return `sqlite:${store.file}`;
  const { url, pool } = store;
  return pool === undefined ? url : { url, pool };
}

/** One text, also where the file has an object: it is one value, whatever has been read from it. */
function shownLive(live: Config['live'], written: unknown): unknown {
  if (live.kind === 'memory') return live.kind;
  const { label, prefix, access, directory } = live;
  const text = `${access.tls ? 'rediss' : 'redis'}://${label}/${access.db} with the prefix ${prefix}`;
  if (!directory) return plainValue(text, isRecord(written) ? written['url'] : written).shown;
  const { url, sentinel, cluster = [] } = written as RawServers; // only that form has a directory
  const nodes = sentinel
    ? `${sentinel.name} by the sentinels ${sentinel.nodes.join(', ')}`
    : cluster.join(', ');
  return `${String(redactAddresses(url))} of ${nodes}`;
}
