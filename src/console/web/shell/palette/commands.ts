import { pathOfRequest, navigate } from '../../state/location.js';
import { refresh } from '../../state/use-resource.js';
import { chooseTheme } from '../../state/theme.js';
import { usePluginDestinations, type Destination } from '../console-page.js';
import { overlay } from '../overlay.js';
import { leave } from '../sign-out.js';
import { action, commandGroups, type Command, type UseCommands } from './command.js';

/** All commands but those that depend on the typed text, group by group. */
export function useCommands(
  pages: readonly Destination[],
  ofFeatures: readonly UseCommands[],
): readonly Command[] {
  const plugins = usePluginDestinations();
  const found = ofFeatures.flatMap((useOfFeature) => useOfFeature());
  const commands = [...[...pages, ...plugins].map(pageCommand), ...found, ...actions];
  return commandGroups.flatMap((name) => commands.filter(({ group }) => group === name));
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

function pageCommand({ path, title, icon, key, words }: Destination): Command {
  return {
    id: `page ${path}`,
    group: 'Pages',
    text: title,
    icon,
    ...(key && { note: `g ${key}` }),
    ...(words && { words }),
    isAtHand: true,
    run: () => navigate(path),
  };
}

const actions: readonly Command[] = [
  { ...action('Load the data again', 'pulse', refresh, 'refresh reload'), note: 'r' },
  action('Colours: light', 'sun', () => chooseTheme('light'), 'theme mode'),
  action('Colours: dark', 'moon', () => chooseTheme('dark'), 'theme mode'),
  action('Colours: as the system', 'auto', () => chooseTheme('auto'), 'theme mode'),
  { ...action('Keyboard shortcuts', 'command', () => overlay.set('help'), 'help keys'), note: '?' },
  action('Sign out', 'leave', () => void leave(), 'log out'),
];
