import { styleText } from 'node:util';
import { printable } from '../../kit/terminal.js';

type Line = Readonly<Record<string, unknown>>;
type Style = Parameters<typeof styleText>[0];

/** A log line for people, from the JSON of the logger; any other line stays unchanged. */
export function prettyLine(json: string, hasColors: boolean): string {
  const line = parsed(json);
  if (!line) return json;
  const paint = (style: Style, text: string) =>
    hasColors ? styleText(style, text, { validateStream: false }) : text;
  const { time, level, msg, err, ...fields } = line;
  const name = String(level);
  const head = [
    paint('dim', String(time).slice(11, 23)),
    paint(styles[name] ?? 'reset', name.toUpperCase().padEnd(5)),
    msg === 'request' ? requestText(fields) : paint('bold', printable(String(msg))),
  ];
  const rest = Object.entries(msg === 'request' ? without(fields, shownOfRequests) : fields);
  const shown = rest.map(([field, value]) => paint('dim', `${field}=`) + valueText(value));
  return `${[...head, ...shown].join(' ')}\n${errorText(err)}`;
}

const styles: Readonly<Record<string, Style>> = {
  debug: 'gray',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
};

function parsed(json: string): Line | undefined {
  try {
    const line: unknown = JSON.parse(json);
    return typeof line === 'object' && line !== null && !Array.isArray(line) ? { ...line } : undefined;
  } catch {
    return undefined;
  }
}

/** `POST /v1/messages 200 in 1204 ms`, with the answering slot and model, and the tokens. */
function requestText({ method, path, status, ms, model, slot, tokens, outcome }: Line): string {
  const { input = 0, cache_read = 0, cache_write = 0, output = 0 } = Object(tokens) as Record<string, number>;
  const read = input + cache_read + cache_write;
  return [
    printable(`${String(method)} ${String(path)} ${String(status)} in ${String(ms)} ms`),
    ...(outcome === 'completed' ? [] : [String(outcome)]),
    ...(typeof model === 'string' ? [printable(model)] : []),
    ...(typeof slot === 'string' ? [`slot ${printable(slot)}`] : []),
    ...(read + output === 0 ? [] : [`${read}+${output} tokens`]),
  ].join(' · ');
}

const shownOfRequests: ReadonlySet<string> = new Set(
  'method path status ms model slot tokens outcome operation format delivery attempts masked'.split(' '),
);

function without(fields: Line, names: ReadonlySet<string>): Line {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));
}

function valueText(value: unknown): string {
  if (typeof value === 'string' && /^[\w.:/@+-]+$/.test(value)) return value;
  return printable(JSON.stringify(value));
}

/** The stack of an error and of its causes, indented. */
function errorText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { stack, message, cause } = error as Line; // any object has properties, perhaps undefined
  const own = typeof stack === 'string' ? stack : String(message);
  const lines = own.split('\n').map((line) => `    ${printable(line)}\n`);
  return lines.join('') + errorText(cause);
}
