import { GatewayError, isGatewayError } from '../../plugin/index.js';

/** Error of an isolated stage as callers get it: an answer that the stage has thrown, else `stage_failed`. */
export function stageFailure(stage: string, error: unknown): unknown {
  if (isGatewayError(error)) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new GatewayError('stage_failed', `The isolated stage "${stage}" failed: ${why}`, {
    callersMessage: `The stage "${stage}" of the gateway failed on this request.`,
    cause: error,
  });
}
