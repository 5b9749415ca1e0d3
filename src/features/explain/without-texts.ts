import type { ObservedSlot } from '../../engine/slots/selection/observed-choice.js';
import type { ExplainedError, ExplainedStage, Explanation, RequestChanges } from './explanation.js';

/** The explanation without texts of the request, the answer and the config: stages, slots, times and causes. */
export function withoutTexts(explanation: Explanation): Explanation {
  const { answer, outgoing, stages, choices, ...others } = explanation;
  const { status, events, complete, error } = answer;
  return {
    ...others,
    log: [],
    answer: { status, headers: {}, events, complete, ...(error && { error: codeAlone(error) }) },
    outgoing: outgoing.map(({ slot, method }) => ({
      ...(slot !== undefined && { slot }),
      method,
      path: '',
      headers: {},
    })),
    choices: choices.map((choice) => ({
      ...choice,
      slots: choice.slots.map(slotWithoutTexts),
    })),
    stages: stages.map(stageWithoutTexts),
  };
}

function slotWithoutTexts({ lastError: _, cooldown, ...slot }: ObservedSlot): ObservedSlot {
  if (!cooldown) return slot;
  const { cause: _cause, ...times } = cooldown;
  return { ...slot, cooldown: times };
}

function stageWithoutTexts({
  request,
  state,
  interceptions,
  error,
  caught,
  ...stage
}: ExplainedStage): ExplainedStage {
  const { reason } = stage;
  return {
    ...stage,
    ...(reason?.kind === 'error' && { reason: { kind: 'error', error: codeAlone(reason.error) } }),
    request: placesOf(request),
    state: state.map(({ key, change }) => ({ key, change })),
    interceptions: interceptions.map(({ calls, events, error }) => ({
      calls: calls.map((call) => ({
        request: placesOf(call.request),
        ...(call.error && { error: codeAlone(call.error) }),
      })),
      ...(events && { events }),
      ...(error && { error: codeAlone(error) }),
    })),
    ...(error && { error: codeAlone(error) }),
    ...(caught && { caught: codeAlone(caught) }),
  };
}

function placesOf({ changes, more }: RequestChanges): RequestChanges {
  return { changes: changes.map(({ path }) => ({ path })), ...(more !== undefined && { more }) };
}

function codeAlone({ code }: ExplainedError): ExplainedError {
  return { code, message: '' };
}
