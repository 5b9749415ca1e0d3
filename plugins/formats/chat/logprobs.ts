/** `choices[].logprobs` of tokens; null without any. */
export function contentLogprobs(logprobs: readonly unknown[]): object | null {
  return logprobs.length > 0 ? { content: logprobs, refusal: null } : null;
}
