/** Check of a value: undefined if it is valid, else the path of the invalid part. */
type Check = (value: unknown) => string | undefined;

/**
 * Validates an upstream's event: the path of the part with a wrong type, or undefined if its handlers can
 * rely on it. Unknown types of events, blocks and deltas are valid, and so are missing fields, except the
 * essential ones.
 */
export function faultIn(event: Readonly<Record<string, unknown>>): string | undefined {
  if (isTextDelta(event)) return undefined;
  const check = own(events, event['type']);
  return check?.(event);
}

/** Fast path without the tables, for text deltas: most events of a stream. */
function isTextDelta({ type, index, delta }: Readonly<Record<string, unknown>>): boolean {
  return (
    type === 'content_block_delta' &&
    Number.isFinite(index) &&
    isObject(delta) &&
    delta['type'] === 'text_delta' &&
    typeof delta['text'] === 'string'
  );
}

const text: Check = (value) => (typeof value === 'string' ? undefined : '');
const number: Check = (value) => (Number.isFinite(value) ? undefined : '');
const textIfAny = optional(text);

const usage = optional(
  both(
    counts(['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']),
    fields({
      cache_creation: optional(counts(['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'])),
      output_tokens_details: optional(counts(['thinking_tokens'])),
    }),
  ),
);

const block = tagged({
  text: fields({ text: textIfAny, citations: optional(list(fields({}))) }),
  thinking: fields({ thinking: textIfAny, signature: textIfAny }),
  redacted_thinking: fields({ data: text }),
  tool_use: fields({ id: text, name: text }),
  server_tool_use: fields({ id: text, name: text }),
  web_search_tool_result: fields({ tool_use_id: text }),
});

const delta = tagged({
  text_delta: fields({ text }),
  input_json_delta: fields({ partial_json: text }),
  thinking_delta: fields({ thinking: text }),
  signature_delta: fields({ signature: text }),
  citations_delta: fields({ citation: fields({}) }),
  compaction_delta: fields({ content: textIfAny }),
});

const events: Readonly<Record<string, Check>> = {
  message_start: fields({
    message: fields({ id: text, content: list(block), stop_reason: textIfAny, usage }),
  }),
  content_block_start: fields({ index: number, content_block: block }),
  content_block_delta: fields({ index: number, delta }),
  content_block_stop: fields({ index: number }),
  message_delta: fields({ delta: fields({ stop_reason: textIfAny }), usage }),
};

/** An object whose fields pass their checks. */
function fields(checks: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(checks);
  return (value) => {
    if (!isObject(value)) return '';
    for (const [name, check] of entries) {
      const fault = check(value[name]);
      if (fault !== undefined) return join(name, fault);
    }
    return undefined;
  };
}

/** An object whose named fields are numbers, if present. */
function counts(names: readonly string[]): Check {
  return (value) => {
    if (!isObject(value)) return '';
    for (const name of names) {
      const count = value[name];
      if (count !== undefined && count !== null && !Number.isFinite(count)) return name;
    }
    return undefined;
  };
}

function both(first: Check, second: Check): Check {
  return (value) => first(value) ?? second(value);
}

/** An object whose `type` selects its check, if any. */
function tagged(checks: Readonly<Record<string, Check>>): Check {
  return (value) => {
    if (!isObject(value)) return '';
    if (typeof value['type'] !== 'string') return 'type';
    return own(checks, value['type'])?.(value);
  };
}

function list(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return '';
    const at = value.findIndex((item) => check(item) !== undefined);
    return at === -1 ? undefined : join(String(at), check(value[at]) ?? '');
  };
}

/** Check that also accepts undefined and null. */
function optional(check: Check): Check {
  return (value) => (value === undefined || value === null ? undefined : check(value));
}

function own(checks: Readonly<Record<string, Check>>, type: unknown): Check | undefined {
  return typeof type === 'string' && Object.hasOwn(checks, type) ? checks[type] : undefined;
}

function join(name: string, rest: string): string {
  return rest === '' ? name : `${name}.${rest}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
