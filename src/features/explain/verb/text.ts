import { isModelCall, isTokenCount } from '../../dry-run/outcome.js';
import type { ExplainedStage, Explanation } from '../explanation.js';
import type {
  ObservedChoice,
  ObservedCooldown,
  ObservedSlot,
} from '../../../engine/slots/selection/observed-choice.js';
import { causeText, choiceWords, notTakenWords } from '../../../engine/slots/words.js';
import { skipWords, stagesTitle } from '../words.js';
import { callLines, changeLines, eventLines, valueText } from './changes.js';
import { counted } from '../../../kit/plural.js';
import { painter, printable, type Paint } from '../../../kit/terminal.js';

/** Text of an explanation for a reader at a terminal. */
export function explainText(
  explanation: Explanation,
  { isColoured }: { readonly isColoured: boolean },
): string {
  const paint = painter(isColoured);
  const section = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length > 0 ? ['', paint('bold', title), ...lines] : [];
  return [
    ...headLines(explanation, paint),
    ...section(
      printable(stagesTitle(explanation)),
      explanation.stages.flatMap((stage) => stageLines(stage, paint)),
    ),
    ...section(
      'Slots',
      explanation.choices.flatMap((choice, at) => choiceLines(choice, at, paint)),
    ),
    ...section(
      'Sent upstream',
      explanation.outgoing.flatMap((call) => outgoingLines(call, paint)),
    ),
    ...section('Told to the caller', answerLines(explanation, paint)),
    ...section('Tokens', tokenLines(explanation)),
    ...section(
      'Log',
      explanation.log.map((line) => `  ${printable(line)}`),
    ),
    '',
  ].join('\n');
}

function headLines({ request, answer, outgoing }: Explanation, paint: Paint): readonly string[] {
  const counts = outgoing.filter(({ path }) => isTokenCount(path)).length;
  const { method, path, key, format, model, bytes } = request;
  const isGood = answer.status < 400 && answer.complete;
  const facts = [
    format,
    model && `model ${model}`,
    `as ${key ?? 'nobody'}`,
    `${bytes} bytes`,
    counted(outgoing.filter(isModelCall).length, 'call of the model', 'calls of the model'),
    ...(counts > 0 ? [counted(counts, 'token count')] : []),
  ].filter((fact) => fact !== undefined && fact !== '');
  const status = paint(
    isGood ? 'green' : 'red',
    `${answer.status}${answer.error ? ` ${answer.error.code}` : ''}`,
  );
  return [`${printable(`${method} ${path}`)}  ${status}`, `  ${printable(facts.join(', '))}`];
}

const signs = { passed: '✓', answered: '■', failed: '✗', skipped: '·' } as const;
const colours = { passed: 'green', answered: 'yellow', failed: 'red', skipped: 'dim' } as const;

function stageLines(stage: ExplainedStage, paint: Paint): readonly string[] {
  const { result, reason, ms, error, caught } = stage;
  const name = printable(stage.stage);
  const sign = signs[result];
  if (reason) return [`  ${paint('dim', `${sign} ${name}: ${printable(skipWords(reason))}`)}`];
  const time = paint('dim', `${ms.toFixed(2)} ms`);
  const end = result === 'answered' ? ', ended the request' : '';
  return [
    `  ${paint(colours[result], sign)} ${name}  ${time}${end}`,
    ...(error ? [`      ${paint('red', printable(`${error.code}: ${error.message}`))}`] : []),
    ...(caught ? [`      caught ${printable(`${caught.code}: ${caught.message}`)}`] : []),
    ...changeLines(stage.request, 'request', paint),
    ...stage.state.map(({ key, change, value }) =>
      printable(`      ${change} ${key}${value === undefined ? '' : ` ${valueText(value)}`}`),
    ),
    ...eventLines(stage.events),
    ...stage.interceptions.flatMap((run) => callLines(run, paint)),
  ];
}

function choiceLines(
  { model, result, slot, bound, slots }: ObservedChoice,
  at: number,
  paint: Paint,
): readonly string[] {
  const chosen = slot === undefined ? choiceWords[result] : printable(slot);
  const session = bound === undefined ? '' : `; the session is bound to ${bound}`;
  const rows = slots.map((each) => `      ${slotText(each, paint)}`);
  return [
    printable(`  ${at + 1}. ${model}`) +
      ` → ${paint(slot === undefined ? 'red' : 'green', chosen)}${printable(session)}`,
    ...rows,
  ];
}

function slotText(
  { slot, upstreamModel, notTaken, cooldown, lastError, inFlight, maxConcurrent }: ObservedSlot,
  paint: Paint,
): string {
  const notes = [
    notTaken ? notTakenWords[notTaken] : 'taken',
    upstreamModel && !notTaken && `as ${upstreamModel}`,
    cooldown && cooldownText(cooldown),
    lastError && notTaken && `last error: ${lastError}`,
    `${inFlight} of ${maxConcurrent} in use`,
  ].filter((note) => note !== undefined && note !== '');
  const text = printable(`${slot}: ${notes.join('; ')}`);
  return notTaken ? paint('dim', text) : text;
}

function cooldownText({ reason, untilMs, cause }: ObservedCooldown): string {
  const until = `${reason} until ${new Date(untilMs).toISOString()}`;
  return cause ? `${until} (${causeText(cause)})` : until;
}

function outgoingLines(
  { slot, method, path, headers, body }: Explanation['outgoing'][number],
  paint: Paint,
): readonly string[] {
  const to = slot === undefined ? 'the token endpoint' : `slot ${slot}`;
  return [
    printable(`  ${method} ${path} to ${to}`),
    ...Object.entries(headers).map(
      ([name, value]) => `      ${paint('dim', printable(`${name}: ${valueText(value)}`))}`,
    ),
    ...(body === undefined ? [] : [`      ${printable(valueText(body))}`]),
  ];
}

function answerLines({ answer, dropped }: Explanation, paint: Paint): readonly string[] {
  const { headers, events, complete, error } = answer;
  const types = Object.entries(events).map(([type, count]) => `${type} ${count}`);
  return [
    ...(error ? [`  ${paint('red', printable(`${error.code}: ${error.message}`))}`] : []),
    ...(complete ? [] : [`  ${paint('red', 'the answer broke off')}`]),
    ...(dropped.length > 0 ? [`  ${paint('yellow', printable(`dropped: ${dropped.join(', ')}`))}`] : []),
    ...Object.entries(headers)
      .filter(([name]) => isTelling(name))
      .map(([name, value]) => `  ${paint('dim', printable(`${name}: ${value}`))}`),
    ...(types.length > 0 ? [printable(`  events: ${types.join(', ')}`)] : []),
    ...(error || answer.answer === undefined ? [] : [`  ${printable(valueText(answer.answer))}`]),
  ];
}

/** False for headers unrelated to this request: those of any answer, and the simulator's own. */
function isTelling(name: string): boolean {
  return /^(x-gw-|retry-after|x-should-retry|content-type$|location$|x-ratelimit-)/.test(name);
}

function tokenLines({ tokens: { billed, shown, added, additions } }: Explanation): readonly string[] {
  const parts = Object.entries(additions).flatMap(([name, count]) =>
    count > 0 ? [`${name} about ${count}`] : [],
  );
  const estimate = parts.length > 0 ? ` (estimated: ${parts.join(', ')})` : '';
  return [
    `  billed: ${countText(billed)}`,
    `  shown:  ${countText(shown)}`,
    ...(added > 0 || estimate ? [`  added by the gateway: ${added}${estimate}`] : []),
  ];
}

function countText(tokens: Explanation['tokens']['billed']): string {
  const counts = Object.entries(tokens).flatMap(([name, count]) => (count > 0 ? [`${name} ${count}`] : []));
  return counts.join(', ') || 'none';
}
