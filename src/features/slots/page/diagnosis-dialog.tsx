import { duration } from '../../../console/web/format/numbers.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Badge } from '../../../console/web/ui/badge.js';
import { Button } from '../../../console/web/ui/button.js';
import { Dialog } from '../../../console/web/ui/dialog/dialog.js';
import { Loaded, Skeleton } from '../../../console/web/ui/loaded.js';
import { diagnoseSlot, type DiagnosisStep } from './api.js';

/**
 * Diagnosis of a slot, step by step: resolves the host, connects as the slot does and checks the credential.
 */
export function DiagnosisDialog({ slot, onClose }: { readonly slot: string; readonly onClose: () => void }) {
  const diagnosis = useResource(slot, (signal) => diagnoseSlot(slot, signal));
  return (
    <Dialog title={`Diagnosis of ${slot}`} onClose={onClose}>
      <div class="dialog-body">
        <p class="dim">The upstream as it is seen from the slot. This takes 10 seconds at max.</p>
        <Loaded resource={diagnosis} skeleton={<Skeleton rows={3} height={44} />}>
          {({ ok, steps }) => (
            <>
              <ol class="steps">
                {steps.map((step) => (
                  <Step key={step.step} step={step} />
                ))}
              </ol>
              <p role="status">
                <b>{conclusionOf(ok, steps)}</b>
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

/** Conclusion of a diagnosis, limited to the completed steps. */
function conclusionOf(ok: boolean, steps: readonly DiagnosisStep[]): string {
  const credential = steps.find(({ step }) => step === 'credential');
  if (credential && !credential.ok) return 'The upstream answers, but rejects the credential of the slot.';
  if (!ok) return 'The upstream cannot be used from here.';
  if (!credential) return 'The upstream answers. The slot has no account to check.';
  if (credential.skipped) return 'The upstream answers. Its credential could not be checked.';
  return 'All is well: the upstream answers and accepts the credential.';
}

function Step({ step: { step, ok, skipped, ms, detail } }: { readonly step: DiagnosisStep }) {
  return (
    <li>
      {skipped ? (
        <Badge tone="idle" icon="wait">
          skipped
        </Badge>
      ) : (
        <Badge tone={ok ? 'ok' : 'bad'} icon={ok ? 'check' : 'stop'}>
          {ok ? 'ok' : 'failed'}
        </Badge>
      )}
      <div>
        <p>
          <b>{stepWords[step] ?? step}</b> <span class="dim num">{duration(ms)}</span>
        </p>
        <p class="dim wrap">{detail}</p>
      </div>
    </li>
  );
}

const stepWords: Readonly<Record<string, string>> = {
  resolve: 'Resolve its name',
  connect: 'Connect',
  request: 'Make a request',
  credential: 'Check the credential',
};
