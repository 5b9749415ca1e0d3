import { useStore } from './state/store.js';
import { dropToast, toasts } from './state/toasts.js';
import { Button } from './ui/button.js';
import { Icon } from './ui/icon.js';

/** Messages about finished actions, in a corner; screen readers announce them politely. */
export function Toaster() {
  const shown = useStore(toasts);
  return (
    <div class="toaster" role="status" aria-live="polite">
      {shown.map(({ id, tone, text }) => (
        <div key={id} class={`toast toast-${tone}`}>
          <Icon name={tone === 'ok' ? 'check' : 'warn'} />
          <span>{text}</span>
          <Button small tone="quiet" icon="close" label="Dismiss" onClick={() => dropToast(id)} />
        </div>
      ))}
    </div>
  );
}
