import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Button } from '../button.js';
import { useModal } from './use-modal.js';

interface DialogProps {
  readonly title: string;
  readonly wide?: boolean;
  /** Keeps the dialog open on a click outside it. */
  readonly firm?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** The browser's own modal dialog: traps the focus, and restores it when closed. Escape closes it. */
export function Dialog({ title, wide = false, firm = false, onClose, children }: DialogProps) {
  const ref = useModal();
  const titleId = useId();
  const onCancel = (event: Event) => {
    event.preventDefault(); // the state of the page decides whether it is open
    onClose();
  };
  return (
    <dialog
      ref={ref}
      class={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={titleId}
      closedby={firm ? 'closerequest' : 'any'}
      onCancel={onCancel}
    >
      <div class="dialog-box">
        <header class="dialog-head">
          <h2 id={titleId}>{title}</h2>
          <Button tone="quiet" icon="close" label="Close" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}
