/** End of a stream that a remote stage reviews. */
export type Outcome = 'whole' | 'refused' | 'ended' | 'unguarded' | 'broken';

/** Answer of the simulator, which has what no caller may see. */
export const spokenText = [
  'Thank you. Your order left us on Monday, and it is on its way to you. It will be there in a day or two.',
  'Please write to jane.doe@example.com about it, or to max@example.com where she is away. Ask both of them.',
].join(' ');
/** The same, as the reference servers pass it on. */
export const guardedText = spokenText.replaceAll(/\S+@\S+/g, '[e-mail]');

/** Tells how a stream of Messages events has ended, by its status and its body. */
export function outcomeOf(status: number, body: string): Outcome {
  const { text, types } = read(body);
  if (!guardedText.startsWith(text)) return 'unguarded';
  if (status === 502) return body.includes('stage_failed') && text === '' ? 'refused' : 'broken';
  if (status !== 200) return 'broken';
  const isError = types.at(-1) === 'error' && types.filter((type) => type === 'error').length === 1;
  if (isError) return types.includes('message_stop') ? 'broken' : 'ended';
  return types.at(-1) === 'message_stop' && text === guardedText ? 'whole' : 'broken';
}

/** Text and types of the events of a stream. */
function read(body: string): { readonly text: string; readonly types: readonly string[] } {
  const data = body.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
  const events = data.map((line) => JSON.parse(line) as { type: string; delta?: { text?: string } }); // of a gateway
  return {
    text: events.map(({ delta }) => delta?.text ?? '').join(''),
    types: events.map(({ type }) => type),
  };
}
