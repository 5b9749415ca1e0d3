import type { ComponentChildren } from 'preact';
import { Button } from '../button.js';
import { CopyButton } from '../copy-button.js';
import { Dialog } from './dialog.js';

interface ShownOnceProps {
  readonly title: string;
  /** Key or token. */
  readonly secret: string;
  /** Name of it after "Copy". */
  readonly what: string;
  readonly testId: string;
  readonly onClose: () => void;
  /** Links beside the button. */
  readonly children?: ComponentChildren;
}

/** Dialog with a secret that is never shown again; only its button closes it. */
export function ShownOnce({ title, secret, what, testId, onClose, children }: ShownOnceProps) {
  return (
    <Dialog title={title} wide firm onClose={onClose}>
      <div class="dialog-body">
        <p>
          <b>Copy it now: it is shown this one time.</b> Only a hash of it is kept, so nobody can show it
          again.
        </p>
        <div class="shown-key">
          <code data-testid={testId}>{secret}</code>
          <CopyButton text={secret} what={what} words primary />
        </div>
      </div>
      <footer class="dialog-foot">
        {children}
        <Button tone="primary" onClick={onClose}>
          I have it
        </Button>
      </footer>
    </Dialog>
  );
}
