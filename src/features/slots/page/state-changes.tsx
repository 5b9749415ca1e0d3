import { useEffect, useRef, useState } from 'preact/hooks';
import type { Slot } from './api.js';
import { stateWords } from './slot-words.js';

/** Announces changes of slot states to screen readers, without the countdowns. */
export function StateChanges({ slots }: { readonly slots: readonly Slot[] }) {
  const known = useRef<ReadonlyMap<string, string>>(new Map());
  const [text, setText] = useState('');
  useEffect(() => {
    const changes = slots.flatMap(({ id, state }) => {
      const before = known.current.get(id);
      return before !== undefined && before !== state ? [`Slot ${id}: ${stateWords[state]}.`] : [];
    });
    known.current = new Map(slots.map(({ id, state }) => [id, state]));
    if (changes.length > 0) setText(changes.join(' '));
  }, [slots]);
  return (
    <p class="sr-only" aria-live="polite">
      {text}
    </p>
  );
}
