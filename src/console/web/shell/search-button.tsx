import { Icon } from '../ui/icon.js';
import { overlay } from './overlay.js';
import { isMac } from './shortcuts/use-shortcuts.js';

/** Opens the command palette, for those who do not know its shortcut. */
export function SearchButton() {
  return (
    <button
      type="button"
      class="search-button"
      aria-haspopup="dialog"
      aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
      onClick={() => overlay.set('palette')}
    >
      <Icon name="search" size={17} />
      <span>Search</span>
      <kbd aria-hidden="true">{isMac ? '⌘ K' : 'Ctrl K'}</kbd>
    </button>
  );
}
