import { action, type Command } from '../../../console/web/shell/palette/command.js';
import { navigate } from '../../../console/web/state/location.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { fetchKeys, type Key } from './api.js';

/** Commands of the palette for keys: to issue one, to find one, and its requests. */
export function useKeyCommands(): readonly Command[] {
  const { data: keys = [] } = useResource('palette keys', fetchKeys);
  return [issue, ...keys.map(keyCommand), ...keys.map(keyRequests)];
}

const issue = action('Issue a key', 'plus', () => navigate('/keys?issue=1'), 'new create');

function keyCommand({ id, name, last4, note }: Key): Command {
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

function keyRequests({ id, name, last4 }: Key): Command {
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
