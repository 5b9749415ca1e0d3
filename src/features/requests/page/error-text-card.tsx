import type { OpenedRequest } from '../../../console/web/api/ledger.js';
import { Card } from '../../../console/web/ui/page.js';
import { CopyButton } from '../../../console/web/ui/copy-button.js';
import { Time } from '../../../console/web/ui/time.js';
import type { ErrorText } from './api.js';

/** Error text of a failed request, or the reason why there is none; hidden from viewers. */
export function ErrorTextCard({ row }: { readonly row: OpenedRequest }) {
  const { error_text: error, calls } = row;
  if (!error) return null;
  const { text, until } = error;
  if (text === null)
    return (
      <Card title="Error text">
        <p class="dim">{reasonFor(error.state)}</p>
      </Card>
    );
  const others = error.calls.filter((call) => call.text !== text);
  return (
    <Card title="Error text" aside={<CopyButton text={text} what="the error text" />}>
      <blockquote class="error-text">{text}</blockquote>
      {others.length > 0 && (
        <ol class="call-texts">
          {others.map(({ call, text: words }) => (
            <li key={call}>
              <span class="dim">{`Call ${call}${slotOf(calls[call - 1])}`}</span>
              <blockquote class="error-text">{words}</blockquote>
            </li>
          ))}
        </ol>
      )}
      <p class="hint">
        The first 300 characters of each text, with secrets masked as ***.
        {until && (
          <>
            {' '}
            Kept until <Time at={until} long />.
          </>
        )}
      </p>
    </Card>
  );
}

function slotOf(call: OpenedRequest['calls'][number] | undefined): string {
  return call ? `, slot ${call.slot}` : '';
}

function reasonFor(state: ErrorText['state']) {
  if (state === 'expired') return 'Error texts are kept for 7 days at most, and this request is older.';
  if (state !== 'off') return 'The ledger does not have the text of this error.';
  return (
    <>
      The text is not kept, for upstreams quote prompts in their errors.{' '}
      <code>{'ledger: { errorTexts: true }'}</code> in the config file keeps the first 300 characters of later
      ones for 7 days, with secrets masked.
    </>
  );
}
