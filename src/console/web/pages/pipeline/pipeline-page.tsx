import { panel } from '../../api/panel.js';
import { useResource } from '../../state/use-resource.js';
import { Loaded, Skeleton } from '../../ui/loaded.js';
import { Page } from '../../ui/page.js';
import { Step, stepsOf } from './step.js';

export function PipelinePage() {
  const pipeline = useResource('pipeline', (signal) => panel.pipeline(signal), 30_000);
  const file = pipeline.data?.file;
  const lead = (
    <>
      What a request walks through, top to bottom.
      {file && (
        <>
          {' '}
          Written in <span class="mono">{file}</span>; change it there and reload.
        </>
      )}
    </>
  );
  return (
    <Page title="Pipeline" lead={lead}>
      <Loaded resource={pipeline} skeleton={<Skeleton rows={10} height={76} />}>
        {({ data }) => (
          <ol class="stages">
            <li class="stage-end">A request comes in</li>
            {stepsOf(data).map(([place, stages], index) => (
              <Step key={place} stages={stages} number={index + 1} />
            ))}
            <li class="stage-end">The answer goes out</li>
          </ol>
        )}
      </Loaded>
    </Page>
  );
}
