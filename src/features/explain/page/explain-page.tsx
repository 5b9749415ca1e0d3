import { useState } from 'preact/hooks';
import type { Explanation } from '../explanation.js';
import { toConsoleError, call, type ConsoleError } from '../../../console/web/api/call.js';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { useIsViewer } from '../../../console/web/state/session.js';
import { Page } from '../../../console/web/ui/page.js';
import { Problem } from '../../../console/web/ui/problem.js';
import { RequestForm, type GivenRequest } from '../../../console/web/request-form/request-form.js';
import { Report } from './report.js';

export const explainPage: ConsolePage = {
  path: '/explain',
  title: 'Explain',
  group: 'Gateway',
  icon: 'search',
  key: 'e',
  words: 'dry run test',
  component: ExplainPage,
};

/** Page that shows how the gateway would handle a request now. */
function ExplainPage() {
  const [explanation, setExplanation] = useState<Explanation>();
  const [problem, setProblem] = useState<ConsoleError>();
  const isViewer = useIsViewer();
  const [isBusy, setBusy] = useState(false);
  const explain = async (call: GivenRequest): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      setExplanation(await fetchExplanation(call));
    } catch (error) {
      setProblem(toConsoleError(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Page
      title="Explain"
      lead="What the gateway would do with a request now. No upstream is called, and no limit is used up."
    >
      <RequestForm isBusy={isBusy} onSend={(call) => void explain(call)} />
      {isViewer && (
        <p class="dim">Texts of the request, the answer and the config are shown to admins alone.</p>
      )}
      {problem && <Problem error={problem} />}
      {explanation && !problem && <Report explanation={explanation} />}
    </Page>
  );
}

const fetchExplanation = (request: GivenRequest) => call<Explanation>('POST', '/explain', { body: request });
