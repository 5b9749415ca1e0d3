import type { ComponentChildren } from 'preact';
import type { Action } from '../../state/use-action.js';
import { Button } from '../button.js';
import { Dialog } from './dialog.js';
import { Problem } from '../problem.js';

interface FormDialogProps {
  readonly title: string;
  /** Label of the submit button. */
  readonly verb: string;
  /** Action of the submit; its error is shown below the fields. */
  readonly action: Action;
  readonly onSubmit: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A form in a dialog; only its buttons and Escape close it. */
export function FormDialog({ title, verb, action, onSubmit, onClose, children }: FormDialogProps) {
  const submit = (event: Event) => {
    event.preventDefault();
    void onSubmit();
  };
  return (
    <Dialog title={title} wide firm onClose={onClose}>
      <form onSubmit={submit}>
        <div class="dialog-body form">
          {children}
          {action.error && <Problem error={action.error} />}
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" changes busy={action.isBusy}>
            {verb}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
