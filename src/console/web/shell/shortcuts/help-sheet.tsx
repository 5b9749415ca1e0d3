import { useStore } from '../../state/store.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import type { Destination } from '../console-page.js';
import { closeOverlay } from '../overlay.js';
import { singleKeys, switchSingleKeys, isMac } from './use-shortcuts.js';

/** Keys of a shortcut, pressed one after another. */
type Keys = readonly string[];

const everywhere: readonly (readonly [Keys, string])[] = [
  [[isMac ? '⌘ K' : 'Ctrl K'], 'Open the command palette'],
  [['/'], 'Search on this page, or everywhere'],
  [['r'], 'Load the data of this page again'],
  [['?'], 'Show this sheet'],
  [['Esc'], 'Close a dialog'],
];

/** All shortcuts, and the switch for the single-key ones. */
export function HelpSheet({ pages }: { readonly pages: readonly Destination[] }) {
  const areOn = useStore(singleKeys);
  const toPages = pages.flatMap(({ key, title }) => (key ? [[['g', key], title] as const] : []));
  return (
    <Dialog title="Keyboard shortcuts" wide onClose={closeOverlay}>
      <div class="dialog-body shortcuts">
        <Shortcuts title="Everywhere" shortcuts={everywhere} />
        <Shortcuts title="Go to a page" shortcuts={toPages} />
        <label class="shortcuts-switch">
          <input
            type="checkbox"
            checked={areOn}
            onChange={(event) => switchSingleKeys(event.currentTarget.checked)}
          />
          <span>
            Shortcuts of single letters and signs
            <span class="hint">Switch them off if you dictate, or if they collide with another program.</span>
          </span>
        </label>
      </div>
    </Dialog>
  );
}

interface ShortcutsProps {
  readonly title: string;
  readonly shortcuts: readonly (readonly [Keys, string])[];
}

function Shortcuts({ title, shortcuts }: ShortcutsProps) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {shortcuts.map(([keys, text]) => (
          <div key={text}>
            <dt>
              {keys.map((key, index) => (
                <span key={key}>
                  {index > 0 && ' then '}
                  <kbd>{key}</kbd>
                </span>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
