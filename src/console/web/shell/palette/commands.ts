import { fetchKeyNames, fetchSlotNames, type NamedKey, type NamedSlot } from '../../api/names.js';
import { pathOfRequest } from '../../format/request-path.js';
import { navigate } from '../../state/location.js';
import { pathOfPage, usePluginPages } from '../../state/plugin-pages.js';
import { refresh } from '../../state/refreshes.js';
import { chooseTheme } from '../../state/theme.js';
import { useResource } from '../../state/use-resource.js';
import { destinations, type Destination } from '../destinations.js';
import { overlay } from '../overlay.js';
import { leave } from '../sign-out.js';
import type { Command } from './command.js';

/** All commands but those that depend on the typed text; keys and slots follow once they are loaded. */
export function useCommands(): readonly Command[] {
  const { data: pluginPages = [] } = usePluginPages();
  const { data: keys = [] } = useResource('palette keys', fetchKeyNames);
  const { data: slots = [] } = useResource('palette slots', fetchSlotNames);
  const own = pluginPages.map((page) => ({ to: pathOfPage(page), text: page.title, icon: 'file' as const }));
  return [
    ...[...destinations, ...own].map(pageCommand),
    ...actions,
    ...keys.map(keyCommand),
    ...slots.map(slotCommand),
    ...keys.map(keyRequests),
    ...slots.map(slotRequests),
  ];
}

/** Commands for a text that may be the id of a request. */
export function requestCommands(text: string): readonly Command[] {
  const id = text.trim();
  if (id.length < 6 || /\s/.test(id)) return [];
  const shared = { group: 'Requests', icon: 'requests' } as const;
  const opened = /^\d{12,15}\.\S+$/.test(id) && {
    ...shared,
    id: 'request',
    text: `Open the request ${id}`,
    run: () => navigate(pathOfRequest(id)),
  };
  const found = {
    ...shared,
    id: 'requests with id',
    text: `Requests with the id ${id}`,
    run: () => navigate(`/requests?range=all&request_id=${encodeURIComponent(id)}`),
  };
  return opened ? [opened] : [found];
}

function pageCommand({ to, text, icon, key, words }: Destination): Command {
  return {
    id: `page ${to}`,
    group: 'Pages',
    text,
    icon,
    ...(key && { note: `g ${key}` }),
    ...(words && { words }),
    isAtHand: true,
    run: () => navigate(to),
  };
}

function keyCommand({ id, name, last4, note }: NamedKey): Command {
  return {
    id: `key ${id}`,
    group: 'Keys',
    text: name,
    icon: 'keys',
    note: `…${last4}`,
    words: `${last4} ${note ?? ''} ${id}`,
    run: () => navigate(`/keys?q=${encodeURIComponent(name)}`),
  };
}

function slotCommand({ id }: NamedSlot): Command {
  return {
    id: `slot ${id}`,
    group: 'Slots',
    text: id,
    icon: 'slots',
    run: () => navigate(`/slots?q=${encodeURIComponent(id)}`),
  };
}

function keyRequests({ id, name, last4 }: NamedKey): Command {
  return {
    id: `requests of key ${id}`,
    group: 'Requests',
    text: `Requests of ${name}`,
    icon: 'requests',
    note: `…${last4}`,
    words: `key ${last4}`,
    run: () => navigate(`/requests?key=${encodeURIComponent(id)}`),
  };
}

function slotRequests({ id }: NamedSlot): Command {
  return {
    id: `requests of slot ${id}`,
    group: 'Requests',
    text: `Requests of ${id}`,
    icon: 'requests',
    words: 'slot',
    run: () => navigate(`/requests?slot=${encodeURIComponent(id)}`),
  };
}

const actions: readonly Command[] = [
  action('Issue a key', 'plus', () => navigate('/keys?issue=1'), 'new create'),
  action('Failed requests', 'warn', () => navigate('/requests?failed=true'), 'errors'),
  action('Reload the config', 'file', () => navigate('/pipeline?reload=1'), 'file changes diff'),
  { ...action('Load the data again', 'pulse', refresh, 'refresh reload'), note: 'r' },
  action('Colours: light', 'sun', () => chooseTheme('light'), 'theme mode'),
  action('Colours: dark', 'moon', () => chooseTheme('dark'), 'theme mode'),
  action('Colours: as the system', 'auto', () => chooseTheme('auto'), 'theme mode'),
  { ...action('Keyboard shortcuts', 'command', () => overlay.set('help'), 'help keys'), note: '?' },
  action('Sign out', 'leave', () => void leave(), 'log out'),
];

function action(text: string, icon: Command['icon'], run: () => void, words: string): Command {
  return { id: text, group: 'Actions', text, icon, words, isAtHand: true, run };
}
