import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

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
