import { panel } from '../../api/panel.js';
import type { DiagnosisStep } from '../../api/types.js';
import { duration } from '../../format/numbers.js';
import { useResource } from '../../state/use-resource.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Loaded, Skeleton } from '../../ui/loaded.js';

/** Resolves the upstream's name and calls it over the slot's own way out; a step at a time. */
export function DiagnosisDialog({ slot, onClose }: { readonly slot: string; readonly onClose: () => void }) {
  const diagnosis = useResource(slot, (signal) => panel.diagnose(slot, signal));
  return (
    <Dialog title={`Diagnosis of ${slot}`} onClose={onClose}>
      <div class="dialog-body">
        <p class="dim">The upstream as it is seen from the slot. This takes 10 seconds at most.</p>
        <Loaded resource={diagnosis} skeleton={<Skeleton rows={3} height={44} />}>
          {({ ok, steps }) => (
            <>
              <ol class="steps">
                {steps.map((step) => (
                  <Step key={step.name} step={step} />
                ))}
              </ol>
              <p role="status">
                <b>{ok ? 'All is well: the upstream answers.' : 'The upstream cannot be used from here.'}</b>
              </p>
            </>
          )}
        </Loaded>
      </div>
      <footer class="dialog-foot">
        <Button onClick={diagnosis.reload}>Again</Button>
        <Button tone="primary" onClick={onClose}>
          Close
        </Button>
      </footer>
    </Dialog>
  );
}

function Step({ step: { name, ok, ms, message } }: { readonly step: DiagnosisStep }) {
  return (
    <li>
      <Badge tone={ok ? 'ok' : 'bad'} icon={ok ? 'check' : 'stop'}>
        {ok ? 'ok' : 'failed'}
      </Badge>
      <div>
        <p>
          <b>{stepWords[name] ?? name}</b> <span class="dim num">{duration(ms)}</span>
        </p>
        <p class="dim wrap">{message}</p>
      </div>
    </li>
  );
}

const stepWords: Readonly<Record<string, string>> = {
  resolve: 'Resolve its name',
  connect: 'Connect',
  request: 'Make a request',
};
