/** Completions ends a broken stream as Chat Completions does. */
export { chatError as completionsError } from '../chat/error.js';
