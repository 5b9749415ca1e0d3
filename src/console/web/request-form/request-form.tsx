import { useState } from 'preact/hooks';
import { fetchKeyNames } from '../api/names.js';
import { usePlace } from '../state/location.js';
import { useResource } from '../state/use-resource.js';
import { Button } from '../ui/button.js';
import { TextArea } from '../ui/input/field.js';
import { Card } from '../ui/page.js';
import { Select } from '../ui/input/select.js';
import './request-form.css';

/** Request of an operator; `as`: id of a key, `master`, or null without a key. */
export interface GivenRequest {
  readonly post: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly as: string | null;
}

interface RequestFormProps {
  /** Text of the button; default: Explain. */
  readonly verb?: string;
  /** True if a request without a key cannot be chosen. */
  readonly needsKey?: boolean;
  readonly isBusy: boolean;
  readonly onSend: (request: GivenRequest) => void;
}

/** Form for a request; the query of the page may name its format, model and key. */
export function RequestForm({ verb = 'Explain', needsKey = false, isBusy, onSend }: RequestFormProps) {
  const { query } = usePlace();
  const model = query.get('model') ?? 'sonnet-5';
  const [post, setPost] = useState<string>(
    formats.find(({ id }) => id === query.get('format'))?.path ?? '/v1/messages',
  );
  const [body, setBody] = useState(() => exampleOf(post, model));
  const [headers, setHeaders] = useState('');
  const [as, setAs] = useState(query.get('key') ?? 'master');
  const changeFormat = (path: string): void => {
    if (body === exampleOf(post, model)) setBody(exampleOf(path, model));
    setPost(path);
  };
  return (
    <Card class="request-form">
      <div class="request-choices">
        <Select
          label="Format"
          value={post}
          options={formats.map(({ path, text }) => ({ value: path, text }))}
          onValue={changeFormat}
        />
        <KeyChoice value={as} needsKey={needsKey} onValue={setAs} />
      </div>
      <TextArea label="Request body" value={body} onValue={setBody} rows={12} mono />
      <TextArea
        label="Headers"
        value={headers}
        onValue={setHeaders}
        placeholder="x-session-id: s1"
        hint="One per line, without credentials: the key is chosen above."
        mono
      />
      <Button
        tone="primary"
        busy={isBusy}
        onClick={() =>
          onSend({ post, body: valueOf(body), headers: headersIn(headers), as: as === 'none' ? null : as })
        }
      >
        {verb}
      </Button>
    </Card>
  );
}

/** JSON as a value; invalid JSON is sent unchanged, and the gateway reports its problem. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

interface KeyChoiceProps {
  readonly value: string;
  readonly needsKey: boolean;
  readonly onValue: (key: string) => void;
}

function KeyChoice({ value, needsKey, onValue }: KeyChoiceProps) {
  const { data: keys = [] } = useResource('keys', fetchKeyNames);
  const good = keys.filter((key) => key.revoked_at === null);
  const options = [
    { value: 'master', text: 'The master key' },
    ...good.map(({ id, name }) => ({ value: id, text: name })),
    ...(needsKey ? [] : [{ value: 'none', text: 'No key' }]),
  ];
  return <Select label="Key" value={value} options={options} onValue={onValue} />;
}

/** Formats of the gateway, by the path of their requests. */
const formats = [
  { id: 'messages', path: '/v1/messages', text: 'Messages' },
  { id: 'chat', path: '/v1/chat/completions', text: 'Chat Completions' },
  { id: 'responses', path: '/v1/responses', text: 'Responses' },
  { id: 'completions', path: '/v1/completions', text: 'Completions' },
  { id: 'count', path: '/v1/messages/count_tokens', text: 'Messages, count of tokens' },
] as const;

/** A small example request in the format of a path. */
function exampleOf(path: string, model: string): string {
  const messages = [{ role: 'user', content: 'Hello' }];
  const bodies: Readonly<Record<string, object>> = {
    '/v1/messages': { model, max_tokens: 1024, stream: true, messages },
    '/v1/messages/count_tokens': { model, messages },
    '/v1/responses': { model, input: 'Hello' },
    '/v1/completions': { model, prompt: 'Hello' },
  };
  return JSON.stringify(bodies[path] ?? { model, messages }, null, 2);
}

/** Headers of a text with one per line; ignores lines without a colon. */
function headersIn(text: string): Readonly<Record<string, string>> {
  const entries = text.split('\n').flatMap((line) => {
    const at = line.indexOf(':');
    return at > 0 ? [[line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()] as const] : [];
  });
  return Object.fromEntries(entries);
}
