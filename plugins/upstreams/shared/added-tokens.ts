import { LRUCache } from 'lru-cache';
import {
  allExtras,
  type MessagesRequest,
  type SlotCall,
  type TextBlock,
  type Tool,
} from '@gw2api/gateway/plugin';
import { estimate } from './answer/counts.js';

/** Call as it was sent. */
export interface SentCall {
  readonly call: Pick<SlotCall, 'addedSystem' | 'addedTools' | 'isTranslated' | 'request' | 'without'>;
  /** Tools of the gateway that were not sent. */
  readonly leftOut: readonly Tool[];
  /** Bytes of its prompt, from which its input tokens are estimated. */
  readonly bytes: number;
  /** True if system text becomes part of the user's text; its size depends on that. */
  readonly isSystemInUser: boolean;
}

/** Measure of the gateway's additions to the estimated input of calls. */
export class AddedTokens {
  /** Bytes of additions by the part of a request that their size depends on: sessions repeat it in each turn. */
  readonly #measured = new LRUCache<string, number>({
    maxSize: maxKeys,
    sizeCalculation: (_, key) => key.length,
  });

  /**
   * Tokens of the additions in the estimate of a call's input, so that the rest equals a token count of the caller's
   * own request. `bytesOf` measures prompts as `bytes` was; undefined: nothing was added.
   */
  of(
    { call, leftOut, bytes, isSystemInUser }: SentCall,
    bytesOf: (request: MessagesRequest) => number,
  ): number | undefined {
    const { request, addedSystem = [], addedTools = [] } = call;
    const tools = addedTools.filter((tool) => !leftOut.includes(tool));
    if (addedSystem.length + tools.length === 0) return undefined;
    // What stays the same on both sides need not be measured.
    const { model, system = [], output_config = {} } = request;
    const messages = isSystemInUser ? request.messages : beginning(request);
    const offered = (tools.length > 0 && request.tools) || [];
    const sent: MessagesRequest = { model, system, messages, output_config, tools: offered };
    const measure = (): number => {
      const own = { ...sent, ...withoutTexts(sent, addedSystem), ...withoutTools(sent, tools) };
      return bytesOf(sent) - bytesOf(own);
    };
    const key = isSystemInUser ? undefined : keyOf(sent, { ...call, addedSystem, addedTools: tools });
    return estimate(bytes) - estimate(bytes - this.#added(key, measure));
  }

  #added(key: string | undefined, measure: () => number): number {
    if (key === undefined || key.length > maxKey) return measure();
    const known = this.#measured.get(key);
    if (known !== undefined) return known;
    const added = measure();
    this.#measured.set(key, added);
    return added;
  }
}

/** Characters. */
const maxKey = 64 * 1024;
const maxKeys = 32 * maxKey;

type Additions = { readonly [Name in 'addedSystem' | 'addedTools']: NonNullable<SlotCall[Name]> } & Pick<
  SlotCall,
  'isTranslated' | 'without'
>;

/** Everything that the size of additions depends on; undefined if JSON does not show it. */
function keyOf(
  sent: MessagesRequest,
  { addedSystem, addedTools, isTranslated, without }: Additions,
): string | undefined {
  if (allExtras(sent).length > 0) return undefined;
  const texts = addedSystem.map(({ text }) => text);
  const tools = addedTools.map(({ name, type }) => [name, type]);
  return JSON.stringify([sent, texts, tools, isTranslated, without ? [...without] : null]);
}

/** System text that messages begin with, which may be joined with the added one, and a placeholder of the turns. */
function beginning({ messages }: MessagesRequest): MessagesRequest['messages'] {
  const turn = messages.findIndex(({ role }) => role !== 'system');
  return [...messages.slice(0, Math.max(0, turn)), { role: 'user', content: '.' }];
}

/** System text without each of the added ones, once. */
function withoutTexts(
  { system }: MessagesRequest,
  added: readonly TextBlock[],
): Pick<MessagesRequest, 'system'> {
  if (!Array.isArray(system)) return {};
  const texts = added.map(({ text }) => text);
  const own = (system as readonly TextBlock[]).filter(({ text }) => {
    const at = texts.indexOf(text);
    if (at >= 0) texts.splice(at, 1);
    return at < 0;
  });
  return { system: own };
}

function withoutTools({ tools }: MessagesRequest, added: readonly Tool[]): Pick<MessagesRequest, 'tools'> {
  if (!tools || added.length === 0) return {};
  return {
    tools: tools.filter(({ name, type }) => !added.some((tool) => tool.name === name && tool.type === type)),
  };
}
