import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from '../button.js';

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

/** Opens a `<dialog>` as a modal while its component is mounted, then gives the focus back. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const ref = useRef<HTMLDialogElement>(null);
  const opener = useRef(document.activeElement); // during rendering: effects run after the paint
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      dialog?.close();
      const before = opener.current;
      const isLeft = before instanceof HTMLElement && before.isConnected && before !== document.body;
      if (isLeft) before.focus();
      else document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true });
    };
  }, []);
  return ref;
}
